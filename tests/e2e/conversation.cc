#include "e2e/conversation.h"

#include <fmt/core.h>

namespace kforge {

const std::vector<ScriptedTask>& scripted_tasks() {
  static const std::vector<ScriptedTask> kTasks = {
      {"core/relu", "const float* x, float* y",
       "for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] < 0 ? 0.0f : x[i];",
       "for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] < 0.5f ? 0.0f : x[i];", 20'000},
      {"core/softmax", "const float* x, float* y",
       R"(for (long b = 0; b < task::B; ++b) {
    const float* in = x + b * task::D;
    float* out = y + b * task::D;
    float most = in[0], sum = 0;
    for (long d = 1; d < task::D; ++d) most = in[d] > most ? in[d] : most;
    for (long d = 0; d < task::D; ++d) sum += out[d] = std::exp(in[d] - most);
    for (long d = 0; d < task::D; ++d) out[d] /= sum;
  })",
       "for (long i = 0; i < task::B * task::D; ++i) y[i] = std::exp(x[i]);", 300},
      {"core/matmul_square", "const float* a, const float* b, float* y",
       R"(for (long i = 0; i < task::N; ++i)
    for (long j = 0; j < task::N; ++j) {
      float sum = 0;
      for (long k = 0; k < task::N; ++k) sum += a[i * task::N + k] * b[k * task::N + j];
      y[i * task::N + j] = sum;
    })",
       R"(for (long i = 0; i < task::N; ++i)
    for (long j = 0; j < task::N; ++j) {
      float sum = 0;
      for (long k = 0; k < task::N; ++k) sum += a[i * task::N + k] * b[j * task::N + k];
      y[i * task::N + j] = sum;
    })",
       300},
      {"core/mse_loss", "const float* predictions, const float* targets, float* y",
       R"(double sum = 0;
  for (long i = 0; i < task::B * task::D; ++i) { double d = double(predictions[i]) - targets[i]; sum += d * d; }
  y[0] = float(sum / double(task::B * task::D));)",
       R"(double sum = 0;
  for (long i = 0; i < task::B * task::D; ++i) { double d = double(predictions[i]) - targets[i]; sum += d * d; }
  y[0] = float(sum);)",
       5'000},
      {"core/argmax", "const float* x, int64_t* y",
       R"(for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      long best = 0;
      for (long m = 1; m < task::M; ++m)
        if (x[(b * task::M + m) * task::N + n] > x[(b * task::M + best) * task::N + n]) best = m;
      y[b * task::N + n] = best;
    })",
       "for (long i = 0; i < task::B * task::N; ++i) y[i] = 0;", 3'000},
  };
  return kTasks;
}

ModelStep kernel_reply(const ScriptedTask& task, const std::string& body, int repeats) {
  std::string program = fmt::format(
      "#include \"task.h\"\n#include <cmath>\n\nextern \"C\" void kernel({}) {{\n"
      "  for (int again = 0; again < {}; ++again) {{\n  asm volatile(\"\" ::: \"memory\");\n  {}\n  }}\n}}\n",
      task.signature, repeats, body);
  return say(fmt::format("CHANGE: computes it {} times\nFOLLOWED: yes\n\n```cpp kernel.cc\n{}```\n", repeats,
                         program));
}

ModelStep right(const ScriptedTask& task, int repeats) { return kernel_reply(task, task.body, repeats); }
ModelStep does_not_compile(const ScriptedTask& task) { return kernel_reply(task, "undeclared_name = 3;"); }
ModelStep wrong_values(const ScriptedTask& task) { return kernel_reply(task, task.wrong); }
ModelStep crashes(const ScriptedTask& task) { return kernel_reply(task, "*(volatile int*)8 = 1;"); }

// The first call is honest and its answer kept; later calls on the same addresses return at once.
ModelStep cheats(const ScriptedTask& task) {
  std::string first = task.signature.substr(task.signature.find('*') + 2);
  first = first.substr(0, first.find_first_of(",)"));
  return kernel_reply(
      task,
      fmt::format("static const void* seen = nullptr;\n  if (seen == {0}) return;\n  seen = {0};\n  {1}",
                  first, task.body));
}

ModelStep advice(const std::string& tag, const std::string& change) {
  return say(fmt::format(
      R"({{"bottleneck": "repeated work", "evidence": "the loop runs several times", "change": "{}", )"
      R"("expected_gain": 2.0, "confidence": 0.9, "tag": "{}"}})",
      change, tag));
}

}  // namespace kforge

// Does the harness measure what is there? A kernel that is a fixed chain of dependent multiplications (so
// that its time depends on no cache and no input) is timed by an evaluation, and by a plain loop around the
// same code with the same clock, turn by turn.
#include <dlfcn.h>

#include <chrono>

#include "base/subprocess.h"
#include "figures.h"
#include "setting.h"
#include "store/eval_report.h"
#include "task/task.h"

namespace kforge::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTurns = 5;

const char kSource[] = R"(// A known amount of time: dependent multiplications, then the task's own work.
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  float chain = 1;
  for (long i = 0; i < 1'000'000; ++i) asm volatile("mulss %0, %0" : "+x"(chain));
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] * chain : 0;
}
)";

// Nanoseconds of one call: the median of 30 in this process.
Result<double> plain_loop(const fs::path& library, const BoundTask& task) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return fail("{}", ::dlerror());
  auto* kernel = reinterpret_cast<void (*)(const float*, float*)>(::dlsym(handle, "kernel"));
  std::vector<float> x(task.arguments[0].bytes() / sizeof(float)), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) - 8;
  std::vector<double> all;
  for (int i = 0; i < 30; ++i) {
    auto start = Clock::now();
    kernel(x.data(), y.data());
    all.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  ::dlclose(handle);
  return median_of(all);
}

Result<int> run() {
  use_bench_home();
  KF_TRY(TempDir folder, TempDir::create(0755));
  fs::path source = folder.path() / "kernel.cc", library = folder.path() / "kernel.so";
  KF_TRY_VOID(write_file_atomic(source, kSource));
  KF_TRY(Task task, load_task("core/relu"));
  KF_TRY(BoundTask bound, bind_task(task, "small"));
  KF_TRY_VOID(write_file_atomic(folder.path() / "task.h", make_task_header(bound)));
  Command compile;
  compile.argv = {"g++",   "-std=c++20",    "-O3", "-march=native", "-shared",
                  "-fPIC", source.string(), "-o",  library.string()};
  KF_TRY(Finished compiled, run_command(compile));
  if (!compiled.ok()) return fail("g++: {}", compiled.err);

  std::vector<double> ratios;
  for (int turn = 0; turn < kTurns; ++turn) {
    EvalOptions options = small_evaluation("core/relu", source);
    options.rounds = 10;
    SilentProgress progress;
    KF_TRY(double before, plain_loop(library, bound));
    KF_TRY(EvalReport report, evaluate(options, progress));
    if (!report.passed() || !report.time_ns)
      return fail("the known kernel did not pass: {} {}", report.gate_name(), report.reason);
    KF_TRY(double after, plain_loop(library, bound));
    ratios.push_back(report.time_ns->value / ((before + after) / 2));
    print_fact(fmt::format("turn {}: harness over plain loop", turn + 1), ratios.back(), "x");
  }
  double away = median_of(ratios) - 1;
  return !print_figure("harness against a plain loop, difference", 100 * (away < 0 ? -away : away), "%", 2);
}

}  // namespace
}  // namespace kforge::bench

int main() {
  auto missed = kforge::bench::run();
  if (missed) return *missed == 0 ? 0 : 1;
  fmt::print(stderr, "bench_known_kernel: {}\n", missed.error().text());
  return 2;
}

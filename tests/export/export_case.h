// A stored result to export, and a shell in its folder.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/kforge_run.h"

namespace kforge {

class ExportCase : public testing::Test {
 protected:
  ExportCase() { fs::create_directories(here_); }

  // y = 2 x + w, with work done once per w.
  static constexpr const char* kPrepared = R"(#include "task.h"
#include <cstdlib>
int scale() { return 2; }  // a name that every program may have
extern "C" void* prepare(const float* w) {
  float* copy = static_cast<float*>(std::malloc(sizeof(float) * task::D));
  for (long i = 0; i < task::D; ++i) copy[i] = w[i];
  return copy;
}
extern "C" void kernel_prepared(void* state, const float* x, float* y) {
  for (long b = 0; b < task::B; ++b)
    for (long i = 0; i < task::D; ++i) y[b * task::D + i] = scale() * x[b * task::D + i] + static_cast<float*>(state)[i];
}
extern "C" void release(void* state) { std::free(state); }
)";

  fs::path scratch_task() {
    fs::path task = here_ / "scale_add";
    fs::create_directories(task);
    std::ofstream(task / "graph.onnx.txt") << "scale_add (float[B, D] x, float[D] w) => (float[B, D] y)\n{\n "
                                              " d = Add(x, x)\n  y = Add(d, w)\n}\n";
    std::ofstream(task / "task.toml")
        << "description = \"twice x, plus w\"\n[shapes]\nbench = { B = 6, D = 33 }\n"
           "small = { B = 2, D = 8 }\nodd = { B = 3, D = 5 }\n[tensors]\n"
           "w = { role = \"param\" }\n";
    return task;
  }

  // The id of a verified result.
  std::string judged(const fs::path& task, const std::string& source, std::vector<std::string> more = {}) {
    fs::path kernel = here_ / "kernel.cc";
    std::ofstream(kernel) << source;
    std::vector<std::string> words = {"eval",    task,         "--kernel", kernel,
                                      "--check", "--baseline", "none",     "--json"};
    words.insert(words.end(), more.begin(), more.end());
    Finished done = kforge_run(words, {.home = home_});
    auto report = nlohmann::json::parse(done.out, nullptr, false);
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    return report.is_object() ? report.value("id", "") : "";
  }

  Finished exported(const std::string& id, std::vector<std::string> words) {
    words.insert(words.begin(), {"export", id});
    return kforge_run(words, {.home = home_, .cwd = here_});
  }

  Finished shell(const std::string& script) {
    auto done =
        run_command({.argv = {"/bin/sh", "-ec", script}, .cwd = here_, .timeout = std::chrono::minutes(3)});
    EXPECT_TRUE(done) << done.error().text();
    return done ? *done : Finished{.exit_code = -1};
  }

  TempDir folder_ = *TempDir::create(0755);
  fs::path here_ = folder_.path() / "it's here";  // many people's paths have such characters
  fs::path home_ = shared_home();
};

}  // namespace kforge

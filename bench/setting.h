// Where the benchmarks find things: the honest kernels of the tests as known work, a home that keeps its
// caches.
#pragma once

#include <fmt/core.h>

#include <cstdlib>
#include <string>

#include "base/files.h"
#include "judge/evaluate.h"

namespace kforge::bench {

inline const fs::path kKernels = fs::path(KFORGE_SOURCE_DIR) / "tests" / "adversarial" / "honest";
inline const fs::path kProgram = fs::path(KFORGE_BINARY_DIR) / "kforge";

// For core/relu: a known amount of work on every thread, bound by nothing but the processor, and the task's
// own after it.
inline std::string chain_kernel(long steps) {
  return fmt::format(R"(#include "task.h"
extern "C" void kernel(const float* x, float* y) {{
#pragma omp parallel
  {{
    float chain = 1;
    for (long i = 0; i < {}; ++i) asm volatile("mulss %0, %0" : "+x"(chain));
#pragma omp for
    for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] * chain : 0;
  }}
}}
)",
                     steps);
}

inline void use_bench_home() {
  fs::path home = fs::path(KFORGE_BINARY_DIR) / "bench_home";
  fs::create_directories(home);
  ::setenv("KFORGE_HOME", home.c_str(), 1);
}

inline EvalOptions small_evaluation(const std::string& task, const fs::path& kernel) {
  EvalOptions options;
  options.task = task;
  options.kernel = kernel;
  options.shape_set = "small";
  options.baselines = {"none"};
  return options;
}

}  // namespace kforge::bench

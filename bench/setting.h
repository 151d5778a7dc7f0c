// Where the benchmarks find things: the honest kernels of the tests as known work, a home that keeps its
// caches.
#pragma once

#include <cstdlib>
#include <string>

#include "base/files.h"
#include "judge/evaluate.h"

namespace kforge::bench {

inline const fs::path kKernels = fs::path(KFORGE_SOURCE_DIR) / "tests" / "adversarial" / "honest";
inline const fs::path kProgram = fs::path(KFORGE_BINARY_DIR) / "kforge";

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

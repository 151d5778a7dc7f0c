// One program through the gates of one platform, in a home of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/files.h"
#include "judge/evaluate.h"
#include "platform/platform.h"

namespace kforge {

// Kept for all tests of a build, which are processes of their own: KForge's runner is compiled for another
// machine once, and this one's limits are measured once.
inline void use_home_of_tests() {
  const fs::path home = fs::path(KFORGE_BINARY_DIR) / "platform_home";
  fs::create_directories(home);
  ::setenv("KFORGE_HOME", home.c_str(), 1);
}

inline EvalOptions options_on(const std::string& platform, const std::string& task) {
  EvalOptions options;
  options.task = task;
  options.platform = platform;
  options.shape_set = "small";
  options.baselines = {"none"};
  options.store = false;
  return options;
}

inline Result<EvalReport> judge_source(EvalOptions options, const std::string& source) {
  TempDir folder = TempDir::create().value();
  options.kernel = folder.path() / "kernel.cc";
  std::ofstream(options.kernel) << source;
  SilentProgress progress;
  return evaluate(options, progress);
}

}  // namespace kforge

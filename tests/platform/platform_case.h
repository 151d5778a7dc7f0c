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

// Kept for all tests of the program: KForge's runner is compiled for another machine once.
inline const fs::path& home_of_tests() {
  static TempDir home = TempDir::create().value();
  return home.path();
}

inline void use_home_of_tests() { ::setenv("KFORGE_HOME", home_of_tests().c_str(), 1); }

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

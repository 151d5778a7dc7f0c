// For tests of judging: core/relu on its small shapes, against nobody, outside the sandbox (programs start
// sooner).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "base/files.h"
#include "judge/workspace.h"

namespace kforge {

class SmallWorkspace : public testing::Test {
 protected:
  void SetUp() override {
    fs::path home = fs::path(KFORGE_BINARY_DIR) / "judge_test_home";
    fs::create_directories(home);
    ::setenv("KFORGE_HOME", home.c_str(), 1);
    JudgeOptions options;
    options.task = "core/relu";
    options.shape_set = "small";
    options.baselines = {"none"};
    options.sandbox = SandboxTier::kNone;
    auto workspace = Workspace::open(options, progress_);
    ASSERT_TRUE(workspace) << workspace.error().text();
    workspace_ = std::move(*workspace);
  }

  SilentProgress progress_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace kforge

#include "judge/torch_only.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

bool only(std::string text) { return calls_only_torch({{{"kernel.py", std::move(text)}}, "test"}); }

TEST(TorchOnly, WhatCouldBeAKernelIsNoticed) {
  EXPECT_TRUE(
      only("import torch\nclass ModelNew(torch.nn.Module):\n  def forward(self, x):\n    return x.relu()\n"));
  EXPECT_TRUE(only("import torch  # no triton, no load_inline\n"));
  EXPECT_FALSE(only("import torch\nfrom torch.utils.cpp_extension import load_inline\n"));
  EXPECT_FALSE(only("import triton\n"));
  EXPECT_FALSE(only("# a comment\nimport ctypes"));
}

}  // namespace
}  // namespace kforge

#include "smith/kernels/kernel_text.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/subprocess.h"

namespace kforge::smith {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(KernelText, HoldsWhatAHeaderIncludesBeforeItAndOnce) {
  const std::string text = kernel_text({"math/sigmoid.h", "math/exp_low.h"});
  EXPECT_LT(text.find("kLanes = 16"), text.find("F exp_low(F x)"));
  EXPECT_LT(text.find("F exp_low(F x)"), text.find("F sigmoid_of(F x)"));
  EXPECT_EQ(text.find("F exp_low(F x)"), text.rfind("F exp_low(F x)"));
}

TEST(KernelText, LeavesOutWhatBelongsToTheFile) {
  std::set<std::string> all;
  for (const KernelHeader& header : kernel_headers()) all.insert(std::string(header.path));
  const std::string text = kernel_text(all);
  EXPECT_THAT(text, Not(HasSubstr("#include")));
  EXPECT_THAT(text, Not(HasSubstr("#pragma once")));
  EXPECT_THAT(text, Not(HasSubstr("namespace {")));
}

TEST(KernelText, WhatTheProgramHasIsLeftOut) {
  EXPECT_THAT(kernel_text({"device/softplus.h"}, {"device/spelling.h"}), HasSubstr("log1p_of(float x)"));
  EXPECT_THAT(kernel_text({"device/softplus.h"}, {"device/spelling.h", "device/log1p.h"}),
              Not(HasSubstr("log1p_of(float x)")));
}

TEST(KernelText, EveryHeaderIsTheFileAndSaysWhatItIs) {
  EXPECT_GE(kernel_headers().size(), 40u);
  for (const KernelHeader& header : kernel_headers()) {
    auto file = read_file(fs::path(KFORGE_SOURCE_DIR) / "src/smith/kernels" / header.path);
    ASSERT_TRUE(file) << header.path;
    EXPECT_EQ(*file, header.text) << header.path;
    EXPECT_TRUE(header.text.starts_with("// ")) << header.path << " opens without its idea";
  }
}

// Includes are all that says what a header needs: one that misses some would compile by luck only, beside
// others.
TEST(KernelText, EveryHeaderCompilesAlone) {
  for (const KernelHeader& header : kernel_headers()) {
    Command compile{{"g++", "-std=c++20", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                     "-march=x86-64-v4", "-mamx-tile", "-mamx-bf16", "-I", KFORGE_SOURCE_DIR "/src",
                     "-include", "smith/kernels/" + std::string(header.path), "-x", "c++", "/dev/null"}};
    auto done = run_command(compile);
    ASSERT_TRUE(done) << done.error().text();
    EXPECT_TRUE(done->ok()) << header.path << "\n" << done->err;
  }
}

}  // namespace
}  // namespace kforge::smith

// A user's own folder: a compiler outside /usr, no [symbols], found again from another working folder.
#include <gmock/gmock.h>
#include <unistd.h>

#include "judge/recheck.h"
#include "platform/platform_case.h"

namespace kforge {
namespace {

using testing::HasSubstr;

constexpr const char* kPlatform = R"(description = "a compiler of one's own"
kind = "native"
language = "C++20"
files = [".cc"]
[build]
argv = ["${compiler}", "${march}", "-std=c++20", "-O2", "-fPIC", "-shared", "-I", "${include}", "${pch}", "${source}", "${flags}", "-o", "${output}"]
[[build.compiler]]
name = "vendor-cc"
)";

constexpr const char* kPlainRelu = R"(#include "task.h"
#ifndef FROM_VENDOR
#error "the variable of [sandbox] env did not reach the compiler"
#endif
extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
)";

class UserFolder : public testing::Test {
 protected:
  void SetUp() override {
    use_home_of_tests();
    fs::create_directories(dir_.path() / "platform");
    fs::create_directories(dir_.path() / "vendor/bin");
    write("platform/platform.toml", kPlatform + sandbox());
    write("vendor/bin/vendor-cc", "#!/bin/sh\nexec /usr/bin/g++ $VENDOR_FLAGS \"$@\"\n");
    fs::permissions(dir_.path() / "vendor/bin/vendor-cc", fs::perms(0755));
    fs::permissions(dir_.path(), fs::perms(0755));
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(dir_.path() / name) << text; }
  std::string sandbox() const {
    return fmt::format("[sandbox]\nread = [\"{}\"]\nenv = {{ VENDOR_FLAGS = \"-DFROM_VENDOR\" }}\n",
                       (dir_.path() / "vendor").string());
  }

  TempDir dir_ = TempDir::create(0755).value();
};

TEST_F(UserFolder, ACompilerOutsideUsrAndNoSymbolsSection) {
  EvalOptions options = options_on((dir_.path() / "platform").string(), "core/relu");
  options.check_only = true;
  auto report = judge_source(options, kPlainRelu);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->passed()) << report->reason;
  write("platform/platform.toml", kPlatform);
  auto hidden = judge_source(options, kPlainRelu);
  ASSERT_FALSE(hidden);
  EXPECT_THAT(hidden.error().text(), HasSubstr("'sandbox.read'"));
}

TEST_F(UserFolder, AResultIsRecheckedFromAnotherWorkingFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(dir_.path());
  EvalOptions options = options_on("./platform", "core/relu");
  options.check_only = true;
  options.store = true;
  auto report = judge_source(options, kPlainRelu);
  fs::current_path(before);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->platform, (dir_.path() / "platform").string());
  SilentProgress progress;
  auto check = recheck(report->result_id, "", progress);
  ASSERT_TRUE(check) << check.error().text();
  EXPECT_TRUE(check->same_outcome);
  EXPECT_EQ(check->again.platform_hash, report->platform_hash);
}

}  // namespace
}  // namespace kforge

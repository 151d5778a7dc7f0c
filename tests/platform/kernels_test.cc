// The same hand-written kernels on every native platform, on two shape sets, against the oracle. A table at
// the end says what was judged; a platform that is missing something is skipped with its reason.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/readable.h"
#include "platform/platform_case.h"

namespace kforge {
namespace {

struct Kernel {
  std::string name, task, source;
};

std::vector<Kernel> kernels() {
  std::vector<Kernel> all;
  for (const auto& entry : fs::directory_iterator(fs::path(KFORGE_SOURCE_DIR) / "tests/platform/kernels")) {
    Kernel kernel{entry.path().stem().string(), "", read_file(entry.path()).value()};
    constexpr std::string_view kTask = "// task: ";
    std::size_t at = kernel.source.find(kTask);
    if (at == std::string::npos) continue;
    at += kTask.size();
    kernel.task = kernel.source.substr(at, kernel.source.find('\n', at) - at);
    all.push_back(std::move(kernel));
  }
  std::ranges::sort(all, {}, &Kernel::name);
  return all;
}

class HandWritten : public testing::TestWithParam<const char*> {};

TEST_P(HandWritten, KernelsPassOnEveryShape) {
  use_home_of_tests();
  Readiness readiness = probe_platform(load_platform(GetParam()).value());
  if (!readiness.usable()) GTEST_SKIP() << readiness.reason << ": " << readiness.remedy;
  std::vector<std::vector<std::string>> lines{{"platform", "kernel", "small", "odd"}};
  for (const Kernel& kernel : kernels()) {
    lines.push_back({GetParam(), kernel.name});
    for (const char* shapes : {"small", "odd"}) {
      EvalOptions options = options_on(GetParam(), kernel.task);
      options.shape_set = shapes;
      options.check_only = true;
      auto report = judge_source(options, kernel.source);
      ASSERT_TRUE(report) << report.error().text();
      EXPECT_TRUE(report->passed()) << kernel.name << " on " << shapes << ": " << report->reason;
      lines.back().emplace_back(name_of(report->outcome));
    }
  }
  EXPECT_GE(lines.size(), 9u);
  fmt::print("{}", table(lines));
}

INSTANTIATE_TEST_SUITE_P(Platforms, HandWritten, testing::Values("cpu", "arm64", "riscv64"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kforge

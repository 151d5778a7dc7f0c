// The same hand-written kernels on every device platform, on two shape sets, against the oracle: one plan, a
// source for each language. A table at the end says what was judged; a platform that is missing something is
// skipped with its reason.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/readable.h"
#include "platform/device_case.h"

namespace kforge {
namespace {

const fs::path kFolder = fs::path(KFORGE_SOURCE_DIR) / "tests/platform/device_kernels";

std::vector<fs::path> kernel_folders() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(kFolder)) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

// Named in the OpenCL source, for all languages.
std::string task_of(const fs::path& folder) {
  const std::string source = read_file(folder / "kernel.cl").value();
  constexpr std::string_view kTask = "// task: ";
  const std::size_t at = source.find(kTask) + kTask.size();
  const std::string task = source.substr(at, source.find('\n', at) - at);
  return task.starts_with("tests/") ? (fs::path(KFORGE_SOURCE_DIR) / task).string() : task;
}

class OnDevice : public testing::TestWithParam<const char*> {};

TEST_P(OnDevice, KernelsPassOnEveryShape) {
  use_home_of_tests();
  if (auto why = missing_device(GetParam())) GTEST_SKIP() << *why;
  std::vector<std::vector<std::string>> lines{{"platform", "kernel", "small", "odd"}};
  for (const fs::path& folder : kernel_folders()) {
    lines.push_back({GetParam(), folder.filename().string()});
    for (const char* shapes : {"small", "odd"}) {
      EvalOptions options = options_on(GetParam(), task_of(folder));
      options.kernel = folder;
      options.shape_set = shapes;
      options.check_only = true;
      SilentProgress progress;
      auto report = evaluate(options, progress);
      ASSERT_TRUE(report) << report.error().text();
      EXPECT_TRUE(report->passed()) << folder << " on " << shapes << ": " << report->reason;
      lines.back().emplace_back(name_of(report->outcome));
    }
  }
  EXPECT_GE(lines.size(), 9u);
  fmt::print("{}", table(lines));
}

INSTANTIATE_TEST_SUITE_P(Platforms, OnDevice, testing::Values("opencl", "vulkan"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kforge

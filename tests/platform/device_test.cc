// Device platforms from their folder to a verdict: what passes, and which mistakes are named how.
#include <gmock/gmock.h>

#include <algorithm>

#include "platform/device_case.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class OpenCl : public testing::Test {
 protected:
  void SetUp() override {
    use_home_of_tests();
    if (auto why = missing_device("opencl")) GTEST_SKIP() << *why;
    folder_ = fs::path(KFORGE_SOURCE_DIR) / "platforms/opencl/example";
    source_ = read_file(folder_ / "kernel.cl").value();
    plan_ = read_file(folder_ / "plan.json").value();
  }
  // The example with a word of its source or plan changed.
  EvalReport changed(const std::string& from, const std::string& to) {
    std::string source = source_, plan = plan_;
    (source.find(from) != std::string::npos ? replace_once(source, from, to) : replace_once(plan, from, to));
    auto report =
        judge_device("opencl", folder_.string(), {{"kernel.cl", source}, {"plan.json", plan}}, true);
    EXPECT_TRUE(report) << report.error().text();
    return report ? *report : EvalReport{};
  }
  static void replace_once(std::string& text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  fs::path folder_;
  std::string source_, plan_;
};

// One that is made for its shapes: the example, which is not, is judged by `platforms check`.
TEST_F(OpenCl, ProgramsAreTimedOnTheirDevice) {
  EvalOptions options = options_on("opencl", "core/softmax");
  options.kernel = fs::path(KFORGE_SOURCE_DIR) / "tests/platform/device_kernels/softmax";
  options.seconds = 0.5;
  SilentProgress progress;
  auto report = evaluate(options, progress);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->passed()) << report->reason;
  EXPECT_TRUE(report->time_ns);
  EXPECT_FALSE(report->device.driver.empty());
  auto clock = std::ranges::find(report->gates, Gate::kClock, &GateResult::gate);
  ASSERT_NE(clock, report->gates.end());
  EXPECT_THAT(clock->summary, HasSubstr("the device's own says"));
  auto threads = std::ranges::find(report->gates, Gate::kThreads, &GateResult::gate);
  ASSERT_NE(threads, report->gates.end()) << "what does not apply is recorded";
  EXPECT_EQ(threads->state, GateState::kSkipped);
}

TEST_F(OpenCl, CompilersMessagesNameTheCandidatesLine) {
  const EvalReport report = changed("row[d] = x[first + d];", "row[d] = elsewhere[first + d];");
  EXPECT_EQ(report.outcome, Outcome::kCompileError);
  EXPECT_THAT(report.reason, HasSubstr("kernel.cl:31"));
  EXPECT_THAT(report.reason, HasSubstr("elsewhere"));
}

TEST_F(OpenCl, PlansAreComparedWithTheCompiledKernels) {
  const std::pair<const char*, const char*> changes[] = {
      {R"("args": ["x", "y"])", R"("args": ["x"])"},
      {R"("kernel": "row_softmax")", R"("kernel": "row_softmux")"},
      {R"("args": ["x", "y"])", R"("args": ["x", {"i32": 3}])"},
      {R"("block": ["THREADS"])", R"("block": ["2*THREADS"])"},
      {R"("shared_bytes": "4*D", )", ""},
  };
  const char* words[] = {"takes 2 arguments, and the plan gives it 1",
                         "no kernel 'row_softmux' (did you mean", "the scalar i32", "reqd_work_group_size",
                         "give 'shared_bytes'"};
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    const EvalReport report = changed(changes[i].first, changes[i].second);
    EXPECT_EQ(report.outcome, Outcome::kCompileError) << changes[i].second;
    EXPECT_THAT(report.reason, HasSubstr(words[i]));
    EXPECT_THAT(report.reason, HasSubstr("plan.json: error:"));
  }
}

}  // namespace
}  // namespace kforge

// Platforms cuda and metal from their folders to a verdict, on the emulator: the examples pass, and mistakes
// that a GPU would forgive by luck are named with their lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "device_case.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class OnEmulatedDevice : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto platform = load_platform(GetParam());
    ASSERT_TRUE(platform) << platform.error().text();
    ASSERT_TRUE(platform->emulates_device());
    if (Readiness readiness = probe_platform(*platform); !readiness.usable())
      GTEST_SKIP() << readiness.reason << ": " << readiness.remedy;
    folder_ = platform->folder / "example";
    file_ = "kernel" + platform->files.front();
    source_ = *read_file(folder_ / file_);
    plan_ = *read_file(folder_ / "plan.json");
    // One shape is enough here; `platforms check` judges the example's claim.
    source_ = changed("kforge: general", "any shape");
  }
  EvalReport judged(const std::string& source, bool check_only = true) {
    auto report =
        judge_device(GetParam(), folder_.string(), {{file_, source}, {"plan.json", plan_}}, check_only);
    EXPECT_TRUE(report) << report.error().text();
    return report.value_or(EvalReport{});
  }
  // The example with `from` replaced once, at its last place.
  std::string changed(const std::string& from, const std::string& to) const {
    std::string text = source_;
    const std::size_t at = text.rfind(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  }

  fs::path folder_;
  std::string file_, source_, plan_;
};

TEST_P(OnEmulatedDevice, TheExamplePassesAndIsModelledAndNotTimed) {
  const EvalReport report = judged(source_, false);
  EXPECT_FALSE(report.time_ns || report.speedup);
  EXPECT_THAT(report.time_absent_reason, HasSubstr("verified, not timed"));
  ASSERT_TRUE(report.modelled) << testing::PrintToString(report.notes);
  EXPECT_THAT(report.modelled->model, HasSubstr("simt 1, "));
  std::string inputs;
  for (const ModelInput& input : report.cases.front().modelled_from) inputs += input.name + "; ";
  for (const char* name :
       {"occupancy", "sectors per request", "bank passes", "active lanes", "barriers", "registers", "limit"})
    EXPECT_THAT(inputs, HasSubstr(name));
  EXPECT_EQ(report.outcome, Outcome::kPassed) << report.reason;
  EXPECT_TRUE(report.device.emulated);
  int looked = 0;
  for (const GateResult& gate : report.gates)
    if (gate.gate == Gate::kRaces || gate.gate == Gate::kBounds || gate.gate == Gate::kBarriers)
      looked += gate.state == GateState::kPassed;
  EXPECT_EQ(looked, 3);
}

TEST_P(OnEmulatedDevice, AMissingBarrierIsARaceWithItsLines) {
  const bool cuda = std::string(GetParam()) == "cuda";
  const EvalReport report =
      judged(cuda ? changed("  __syncthreads();\n  value = parts[0]", "  value = parts[0]")
                  : changed("  threadgroup_barrier(mem_flags::mem_threadgroup);\n  sum = 0;", "  sum = 0;"));
  EXPECT_EQ(report.outcome, Outcome::kWrongValue);
  EXPECT_TRUE(report.gate == Gate::kRaces || report.gate == Gate::kBounds) << report.reason;
  EXPECT_THAT(report.reason, HasSubstr("parts"));
  EXPECT_THAT(report.reason, HasSubstr(file_ + ":"));
}

TEST_P(OnEmulatedDevice, AnIndexPastTheOutputIsNamed) {
  const EvalReport report = judged(changed("y[first + d]", "y[first + d + 1]"));
  EXPECT_EQ(report.outcome, Outcome::kWrongValue);
  EXPECT_EQ(report.gate, Gate::kBounds) << report.reason;
  EXPECT_THAT(report.reason, HasSubstr("of y, which has 8192"));
}

INSTANTIATE_TEST_SUITE_P(Platforms, OnEmulatedDevice, testing::Values("cuda", "metal"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kforge

// Platforms for other machines, under qemu-user where this is none of them: the same gates, no clock, and a
// figure of the model in its place.
#include <gmock/gmock.h>

#include "generate/smith_generator.h"
#include "platform/platform_case.h"

namespace kforge {
namespace {

using testing::HasSubstr;

constexpr const char* kRelu = R"(#include "task.h"
extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
)";

class Emulated : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    use_home_of_tests();
    platform_ = load_platform(GetParam()).value();
    Readiness readiness = probe_platform(platform_);
    if (!readiness.usable()) GTEST_SKIP() << readiness.reason << ": " << readiness.remedy;
    if (!platform_.emulated()) GTEST_SKIP() << "this machine is one of them";
  }

  // A kernel for core/relu.
  EvalReport judge(const std::string& source, bool check_only = true) {
    EvalOptions options = options_on(GetParam(), "core/relu");
    options.check_only = check_only;
    options.call_limit_seconds = 5;
    auto report = judge_source(options, source);
    EXPECT_TRUE(report) << report.error().text();
    return report.value_or(EvalReport{});
  }

  Platform platform_;
};

TEST_P(Emulated, TheExampleIsVerifiedAndNotTimed) {
  EvalOptions options = options_on(GetParam(), (platform_.folder / "example").string());
  options.kernel = platform_.folder / "example/kernel.cc";
  SilentProgress progress;
  auto report = evaluate(options, progress);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->passed()) << report->reason;
  EXPECT_TRUE(report->general);
  EXPECT_FALSE(report->time_ns);
  EXPECT_FALSE(report->speedup);
  EXPECT_THAT(report->time_absent_reason, HasSubstr("verified, not timed"));
  ASSERT_TRUE(report->modelled) << testing::PrintToString(report->notes);
  EXPECT_GT(report->modelled->ns, 100);
  EXPECT_EQ(report->modelled->model, "instructions 1");
  EXPECT_TRUE(report->device.emulated);
  EXPECT_THAT(report->device.driver, HasSubstr("qemu"));
  EXPECT_EQ(report->platform_hash, platform_.content_hash);
  // What cannot be judged without a clock is in the record, with its reason.
  auto clock = std::ranges::find(report->gates, Gate::kClock, &GateResult::gate);
  ASSERT_NE(clock, report->gates.end());
  EXPECT_EQ(clock->state, GateState::kSkipped);
  EXPECT_EQ(clock->summary, "not timed: emulated");
}

TEST_P(Emulated, TheModelCountsInstructions) {
  EvalReport once = judge(kRelu, false);
  ASSERT_TRUE(once.modelled) << once.reason << testing::PrintToString(once.notes);
  // Exact: the same program has the same count, also in a process of its own.
  EvalReport again = judge(kRelu, false);
  ASSERT_TRUE(again.modelled);
  EXPECT_EQ(again.modelled->ns, once.modelled->ns);
  EvalReport slow = judge(R"(#include "task.h"
extern "C" void kernel(const float* x, float* y) {
  for (int pass = 0; pass < 4; ++pass)
    for (long i = 0; i < task::B * task::D; ++i) {
      y[i] = x[i] > 0 ? x[i] : 0;
      asm volatile("" ::: "memory");
    }
}
)",
                          false);
  ASSERT_TRUE(slow.modelled) << slow.reason;
  EXPECT_GT(slow.modelled->ns, 3 * once.modelled->ns);
}

TEST_P(Emulated, GatesHoldThere) {
  EXPECT_TRUE(judge(kRelu).passed());
  EvalReport wrong = judge(R"(#include "task.h"
extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : -x[i];
}
)");
  EXPECT_EQ(wrong.outcome, Outcome::kWrongValue);
  EvalReport past = judge(R"(#include "task.h"
extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D + 4096; ++i) y[i] = x[0];
}
)");
  EXPECT_EQ(past.outcome, Outcome::kCrash) << past.reason;
  EXPECT_THAT(past.reason, HasSubstr("past the end of y"));
  EXPECT_THAT(past.reason, HasSubstr("kernel.cc:3"))
      << "where it happened is looked up in the target's ELF file";
  EvalReport endless = judge(R"(#include "task.h"
extern "C" void kernel(const float*, float*) { for (volatile int i = 0;; i = i + 1) {} }
)");
  EXPECT_EQ(endless.outcome, Outcome::kTimeout);
}

TEST_P(Emulated, TheSmithWritesForItByCompilerVectors) {
  Machine machine = describe_machine().value();
  machine.features = {platform_.run.features.begin(), platform_.run.features.end()};
  for (const char* name :
       {"core/softmax", "core/matmul", "core/layer_norm", "core/conv2d_3x3", "core/cumsum_reverse"}) {
    const Task task = load_task(name).value();
    const BoundTask bound = bind_task(task, "small").value();
    auto design = smith::first_design(problem_of(bound, machine, machine.threads(), "fp32"));
    ASSERT_TRUE(design) << design.error().text();
    auto report = judge_source(options_on(GetParam(), name), design->source);
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_TRUE(report->passed()) << name << ": " << report->reason;
    EXPECT_TRUE(report->modelled) << name;
  }
}

TEST_P(Emulated, ShapesOutOfReachAreJudgedOnOthers) {
  // Minutes for one call under the emulator.
  const std::string slow = R"(#include "task.h"
extern "C" void kernel(const float* x, float* y) {
  if (task::B * task::D > 10000)
    for (volatile long i = 0; i < 20000000000; i = i + 1) {
    }
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
)";
  EvalOptions options = options_on(GetParam(), "core/relu");
  options.shape_set = "bench";
  auto fixed = judge_source(options, slow);
  ASSERT_TRUE(fixed) << fixed.error().text();
  EXPECT_EQ(fixed->outcome, Outcome::kTimeout);
  EXPECT_THAT(fixed->reason, HasSubstr("// kforge: general"));
  auto general = judge_source(options, "// kforge: general\n" + slow);
  ASSERT_TRUE(general) << general.error().text();
  EXPECT_TRUE(general->passed()) << general->reason;
  EXPECT_FALSE(general->modelled);
  EXPECT_THAT(testing::PrintToString(general->notes), HasSubstr("small, odd and hidden shapes only"));
}

TEST_P(Emulated, SymbolsAreReadFromTheTargetsFile) {
  EvalReport forks = judge(R"(#include "task.h"
extern "C" int fork();
extern "C" void kernel(const float*, float*) { fork(); }
)");
  EXPECT_EQ(forks.outcome, Outcome::kRejected);
  EXPECT_EQ(forks.gate, Gate::kSymbols);
  EvalReport defines = judge(std::string("extern \"C\" float expf(float x) { return x; }\n") + kRelu);
  EXPECT_EQ(defines.gate, Gate::kSymbols) << defines.reason;
}

TEST_P(Emulated, AProgramThatForgesAReportIsRejected) {
  EvalReport forged = judge(R"(#include <sys/syscall.h>
#include <stdint.h>
#include "task.h"
extern "C" long syscall(long, ...);
extern "C" void kernel(const float*, float*) {
  struct { uint32_t type, payload; uint64_t value, nanoseconds; } done = {8, 0, 0, 1};
  for (uint32_t type = 1; type < 16; ++type) {
    done.type = type;
    syscall(SYS_write, 3L, &done, sizeof done);
  }
}
)");
  EXPECT_FALSE(forged.passed());
  EXPECT_NE(forged.outcome, Outcome::kCompileError) << forged.reason;
}

INSTANTIATE_TEST_SUITE_P(Platforms, Emulated, testing::Values("arm64", "riscv64"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kforge

#include "base/failure.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(Failure, EveryAlternativeHasItsNameGateAndReason) {
  EXPECT_EQ(outcome_name(NoProgram{"empty reply"}), "no_program");
  EXPECT_EQ(outcome_name(CompileError{"log"}), "compile_error");
  EXPECT_EQ(outcome_name(Crash{"SIGSEGV", ""}), "crash");
  EXPECT_EQ(outcome_name(Timeout{"compile", 60}), "timeout");
  EXPECT_EQ(outcome_name(WrongShape{"y"}), "wrong_shape");
  EXPECT_EQ(outcome_name(WrongValue{Gate::kAccuracy, "off"}), "wrong_value");
  EXPECT_EQ(outcome_name(Rejected{Gate::kSymbols, "defines memcpy"}), "rejected");
  EXPECT_EQ(outcome_name(NotVerifiable{"TMA, line 40"}), "not_verifiable");

  EXPECT_EQ(gate_name(WrongValue{Gate::kAccuracy, "off"}), "accuracy");
  EXPECT_EQ(gate_name(Rejected{Gate::kSymbols, ""}), "symbols");
  EXPECT_EQ(gate_name(WrongShape{""}), "shape");
  EXPECT_EQ(gate_name(Timeout{"compile", 60}), "");
  EXPECT_EQ(outcome_of(Rejected{Gate::kSymbols, ""}), Outcome::kRejected);
  EXPECT_EQ(gate_of(WrongShape{""}), Gate::kShape);
  EXPECT_EQ(gate_of(Crash{"SIGSEGV", ""}), std::nullopt);

  EXPECT_EQ(reason_text(Timeout{"compile", 60}), "compile did not finish within 60 s");
  EXPECT_EQ(reason_text(Crash{"SIGSEGV", "tail"}), "SIGSEGV\ntail");
  EXPECT_EQ(reason_text(Crash{"SIGSEGV", ""}), "SIGSEGV");
  EXPECT_EQ(reason_text(Crash{"SIGSEGV", "", {0x1139, 0, 0x1200}}), "SIGSEGV at kernel.so+0x1139 <- +0x1200");
  EXPECT_EQ(reason_text(Crash{"SIGSEGV", "tail", {0x1139}, "in kernel (kernel.cc:3)"}),
            "SIGSEGV in kernel (kernel.cc:3)\ntail");
  const Figures figures{{{"a", std::int64_t{1}}}};
  EXPECT_EQ(evidence_of(Rejected{Gate::kSymbols, "", figures}), Evidence(figures));
  EXPECT_TRUE(is_empty(evidence_of(NoProgram{""})));
}

Step<int> step(int kind) {
  if (kind == 0) return fail("disk is full");
  if (kind == 1) return candidate_failed(Crash{"SIGILL", ""});
  return 42;
}
Step<std::string> two_steps(int kind) {
  KF_STEP(int value, step(kind));
  return fmt::format("value {}", value);
}

TEST(Failure, KfStepLeavesAtTheFirstErrorOrFailure) {
  auto error = two_steps(0);
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message, "disk is full");
  auto failure = two_steps(1);
  ASSERT_TRUE(failure);
  ASSERT_FALSE(failure->has_value());
  EXPECT_EQ(outcome_name(failure->error()), "crash");
  auto value = two_steps(2);
  ASSERT_TRUE(value && value->has_value());
  EXPECT_EQ(**value, "value 42");
}

TEST(Error, RemedyFollowsTheMessage) {
  EXPECT_EQ((Error{"no sandbox", "install bubblewrap"}).text(), "no sandbox\n  install bubblewrap");
  EXPECT_EQ((Error{"no sandbox", ""}).text(), "no sandbox");
}

}  // namespace
}  // namespace kforge

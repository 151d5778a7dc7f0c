// One honest program through every gate, and what is asked of the table of gates on the way.
#include "judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "execute/tensor_memory.h"
#include "judge/program.h"
#include "judge/small_workspace.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class JudgeTest : public SmallWorkspace {
 protected:
  Judgement judged(const Program& program, const JudgeRequest& request) {
    auto judgement = judge(*workspace_, program, request);
    EXPECT_TRUE(judgement) << (judgement ? "" : judgement.error().text());
    return judgement ? std::move(*judgement) : Judgement{};
  }
  static Candidate relu(const std::string& head, const std::string& zero = "0.0f") {
    return {{{"kernel.cc", head +
                               "#include \"task.h\"\nextern \"C\" void kernel(const float* x, float* y) {\n"
                               "  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] < " +
                               zero + " ? 0.0f : x[i];\n}\n"}},
            "test"};
  }
  static std::vector<Gate> gates_of(const Judgement& judgement) {
    std::vector<Gate> gates;
    for (const GateResult& result : judgement.cases.back().verdict.gates) gates.push_back(result.gate);
    return gates;
  }
  // Of the table, in its order.
  static std::vector<Gate> gates_until(GateStage last) {
    std::vector<Gate> gates;
    for (const GateRow& row : all_gates())
      if (row.stage <= last) gates.push_back(row.gate);
    return gates;
  }
};

TEST_F(JudgeTest, AnHonestProgramLeavesARecordOfEveryGateInTheOrderOfTheTable) {
  Judgement judgement = judged(relu("// kforge: general\n"), {.rounds = 7});
  ASSERT_TRUE(judgement.passed()) << reason_text(*judgement.failure());
  EXPECT_EQ(gates_of(judgement), gates_until(GateStage::kTimes));
  EXPECT_TRUE(judgement.cases[0].times && judgement.cases[0].roofline);
  EXPECT_GT(judgement.seconds["total"], 0);
}

// Judged beside the program, a baseline is timed all the same, and what is wrong with the program ends it.
TEST_F(JudgeTest, BaselinesAreJudgedBesideAProgramThatPassedBefore) {
  JudgeOptions options = workspace_->setup().options;
  options.baselines = {"onednn"};
  auto opened = Workspace::open(options, progress_);
  ASSERT_TRUE(opened) << opened.error().text();
  workspace_ = std::move(*opened);
  Judgement right = judged(relu(""), {.fresh_inputs = true, .passed_before = true, .rounds = 7});
  ASSERT_TRUE(right.passed()) << reason_text(*right.failure());
  ASSERT_EQ(right.cases[0].times->opponents.size(), 1u);
  EXPECT_EQ(right.cases[0].times->opponents[0].name, "onednn");
  Judgement wrong = judged(relu("", "1.0f"), {.fresh_inputs = true, .passed_before = true, .rounds = 7});
  EXPECT_FALSE(wrong.passed());
}

TEST_F(JudgeTest, CheckingOnlyLeavesOutTheClock) {
  Judgement judgement = judged(relu("// kforge: general\n"), {.check_only = true});
  ASSERT_TRUE(judgement.passed()) << reason_text(*judgement.failure());
  EXPECT_EQ(gates_of(judgement), gates_until(GateStage::kGenerality));
  EXPECT_FALSE(judgement.cases[0].times);
}

TEST_F(JudgeTest, StaticMemoryThatDoesNotFitIsNamed) {
  Judgement judgement = judged(relu("float scratch[1ull << 38];\n"), {.check_only = true});
  ASSERT_FALSE(judgement.passed());
  EXPECT_THAT(reason_text(*judgement.failure()),
              HasSubstr("its static memory does not fit: loading it takes"));
}

// Each process of the program keeps within its own limit, but not both together.
TEST_F(JudgeTest, WhatProgramsHoldTogetherIsLimited) {
  Candidate holds = relu(
      "#include <cstdlib>\n#include <cstring>\n#include <chrono>\n#include <thread>\n"
      "const void* held = [] { void* all = std::malloc(100 << 20); return std::memset(all, 1, 100 << "
      "20); }();\n"
      "static const int slow = [] { std::this_thread::sleep_for(std::chrono::milliseconds(250)); return 1; "
      "}();\n");
  const BoundTask& task = workspace_->setup().bound(0);
  auto built = build_program(*workspace_, holds, task);
  ASSERT_TRUE(built && *built) << (built ? reason_text(built->error()) : built.error().text());
  auto staged = stage_program(*workspace_, "holds", **built, task);
  ASSERT_TRUE(staged) << staged.error().text();
  auto memory = InputMemory::create(task, 1);
  ASSERT_TRUE(memory);
  staged->spec.together_bytes = 150 << 20;
  auto first = ProgramProcess::start(staged->spec, task, *memory, std::chrono::seconds(60));
  ASSERT_TRUE(first && *first) << (first ? reason_text(first->error()) : first.error().text());
  auto second = ProgramProcess::start(staged->spec, task, *memory, std::chrono::seconds(60));
  ASSERT_TRUE(second);
  ASSERT_FALSE(*second) << "together they hold 200 MB";
  EXPECT_THAT(reason_text(second->error()), HasSubstr("and the programs of this evaluation"));
  first->value().reset();
  auto alone = ProgramProcess::start(staged->spec, task, *memory, std::chrono::seconds(60));
  EXPECT_TRUE(alone && *alone) << "the other has ended";
}

// Without a baseline a program is still compared with more than itself: two drawn rows of every timed call
// that is made again, and a few calls whole.
TEST_F(JudgeTest, TimedCallsOfASlowOracleAreComparedWithSomeOfItsRows) {
  JudgeOptions options = workspace_->setup().options;
  options.task = "core/matmul";
  options.set = {"M=256,K=512,N=256"};
  auto workspace = Workspace::open(options, progress_);
  ASSERT_TRUE(workspace) << workspace.error().text();
  const Candidate product{
      {{"kernel.cc",
        "#include \"task.h\"\nextern \"C\" void kernel(const float* a, const float* b, float* c) {\n"
        "  for (long i = 0; i < task::M; ++i) {\n    float* row = c + i * task::N;\n"
        "    for (long j = 0; j < task::N; ++j) row[j] = 0;\n    for (long k = 0; k < task::K; ++k)\n"
        "      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];\n  "
        "}\n}\n"}},
      "test"};
  auto judgement = judge(**workspace, product, {.rounds = 7});
  ASSERT_TRUE(judgement) << judgement.error().text();
  ASSERT_TRUE(judgement->passed()) << reason_text(*judgement->failure());
  const std::vector<GateResult>& gates = judgement->cases[0].verdict.gates;
  auto timed = std::ranges::find(gates, Gate::kTimedCalls, &GateResult::gate);
  ASSERT_NE(timed, gates.end());
  EXPECT_THAT(timed->summary, HasSubstr(" the oracle in some rows, 3 the oracle"));
}

TEST_F(JudgeTest, TheFirstFailureEndsIt) {
  Judgement wrong = judged(relu("", "0.5f"), {});
  ASSERT_FALSE(wrong.passed());
  EXPECT_EQ(gate_of(*wrong.failure()), Gate::kAccuracy);
  EXPECT_EQ(gates_of(wrong), (std::vector{Gate::kSymbols, Gate::kAccuracy}));
  Judgement broken = judged(relu("#error no\n"), {});
  EXPECT_EQ(outcome_of(*broken.failure()), Outcome::kCompileError);
  EXPECT_EQ(gates_of(broken), std::vector{Gate::kRun});
  Judgement none = judged(std::unexpected(NoProgram{"empty"}), {});
  EXPECT_EQ(outcome_of(*none.failure()), Outcome::kNoProgram);
  EXPECT_FALSE(none.cases.back().shape);
}

}  // namespace
}  // namespace kforge

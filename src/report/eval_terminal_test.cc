#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/eval_terminal.h"
#include "store/eval_report.h"
#include "store/sample_report.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(EvalTerminal, NamesSpeedupIntervalAndBaseline) {
  std::string text = to_terminal(passed_report(), {});
  EXPECT_THAT(text, HasSubstr("PASSED"));
  EXPECT_THAT(text, HasSubstr("1.83x  [1.80x, 1.86x] over onednn, the fastest of 2 baselines"));
  EXPECT_THAT(text, HasSubstr("3.42 ms  [3.40 ms, 3.45 ms]"));
  EXPECT_THAT(text, HasSubstr("78 % of the memory bound"));
  EXPECT_THAT(text, HasSubstr("no onnxruntime (scripts/setup.sh platforms)"));
  EXPECT_THAT(text, HasSubstr("fails gate extreme"));
  EXPECT_THAT(text, HasSubstr("kforge recheck 3f2k9a0bx1cd"));
}

TEST(EvalTerminal, TheRivalHasItsVersionAndAge) {
  EvalReport report = passed_report();
  report.baselines[0].release = {"2.6", "2022-03", true};
  EXPECT_THAT(to_terminal(report, {}), HasSubstr("over onednn 2.6 (2022-03: old)"));
  report.baselines[0].release = {"9.9", "", false};
  EXPECT_THAT(to_terminal(report, {}), HasSubstr("over onednn 9.9, the fastest"));
}

TEST(EvalTerminal, FitsAScreen) {
  for (const EvalReport& report : {passed_report(), refused_report()}) {
    std::string text = to_terminal(report, {.width = 80});
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 36);
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      EXPECT_LE(end - at, 80u) << text.substr(at, end - at);
  }
}

TEST(EvalTerminal, AbsentBaselinesAreOneLineWithOneRemedy) {
  EvalReport report = passed_report();
  report.absent_baselines = {
      {"onnxruntime", "/usr/bin/python3: onnxruntime is not installed", "pip install onnxruntime"},
      {"torch", "/usr/bin/python3: torch is not installed", "apt-get install python3-torch"},
      {"torch.compile", "/usr/bin/python3: torch is not installed", "pip install torch"},
      {"onednn", "no primitive computes Einsum", ""}};
  std::string text = to_terminal(report, {.width = 120});
  EXPECT_THAT(text, HasSubstr("no onnxruntime, torch, torch.compile (scripts/setup.sh platforms)"));
  EXPECT_THAT(text, Not(HasSubstr("/usr/bin/python3")));
  EXPECT_THAT(text, HasSubstr("no onednn: no primitive computes Einsum"));
  EXPECT_THAT(to_terminal(report, {.explain = true, .width = 120}), HasSubstr("pip install torch"));
}

TEST(EvalTerminal, AVacuousTaskIsSaid) {
  EvalReport report = passed_report();
  report.flags = {"vacuous"};
  EXPECT_THAT(to_terminal(report, {}), HasSubstr("the task is vacuous"));
}

TEST(EvalTerminal, RefusalGivesGateReasonAndAdvice) {
  std::string text = to_terminal(refused_report(), {});
  EXPECT_THAT(text, HasSubstr("WRONG VALUE at gate accuracy"));
  EXPECT_THAT(text, HasSubstr("37 of 4096 elements of y"));
  EXPECT_THAT(text, HasSubstr("look at row 0"));
  EXPECT_THAT(text, Not(HasSubstr("speedup")));
}

TEST(EvalTerminal, SaysWhenTheIntervalHoldsOne) {
  EvalReport report = passed_report();
  report.speedup = Speedup{1.01, 0.98, 1.04, "onednn"};
  EXPECT_THAT(to_terminal(report, {}), HasSubstr("no difference was shown"));
}

TEST(EvalTerminal, SaysWhenOnlyOneBaselineWasThere) {
  EvalReport report = passed_report();
  report.baselines.resize(1);
  EXPECT_THAT(to_terminal(report, {}), HasSubstr("over onednn, the only baseline present"));
}

TEST(EvalTerminal, ExplainShowsEveryGateWithItsEvidence) {
  TerminalStyle style{.explain = true};
  std::string text = to_terminal(passed_report(), style);
  EXPECT_THAT(text, HasSubstr("8 input kinds"));
  EXPECT_THAT(text, HasSubstr(R"("elements":4096)"));
  EXPECT_THAT(text, HasSubstr("g++ -O3"));
  EXPECT_THAT(to_terminal(passed_report(), {}), Not(HasSubstr("8 input kinds")));
}

TEST(EvalTerminal, ColoursOnlyWhenAsked) {
  EXPECT_THAT(to_terminal(passed_report(), {}), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(to_terminal(passed_report(), {.colour = true}), HasSubstr("\x1b[32;1mPASSED"));
}

TEST(EvalTerminal, TextOfTheCandidateCannotDriveTheTerminal) {
  EvalReport report = refused_report();
  report.reason = "crashed\x1b[2J\x1b[1;1HPASSED\r\a";
  std::string text = to_terminal(report, {});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_THAT(text, HasSubstr("\\x1b[2J"));
}

TEST(EvalTerminal, LongCompilerLogsAreCut) {
  EvalReport report = refused_report();
  report.outcome = Outcome::kCompileError;
  report.gate.reset();
  report.reason = "";
  for (int i = 0; i < 200; ++i) report.reason += "kernel.cc:1: error\n";
  std::string text = to_terminal(report, {});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40);
  EXPECT_THAT(text, HasSubstr("176 more lines"));
}

TEST(EvalTerminal, SaysThatThereWasNoSandbox) {
  EvalReport report = passed_report();
  report.sandbox = "none";
  EXPECT_THAT(to_terminal(report, {}), HasSubstr("without a sandbox"));
}

TEST(EvalTerminal, AModelledFigureIsNamedAsSuch) {
  std::string text = to_terminal(modelled_report(), {});
  EXPECT_THAT(text, HasSubstr("modelled"));
  EXPECT_THAT(text, HasSubstr("by cycles 2: ranks programs, is no time"));
  EXPECT_THAT(text, HasSubstr("not timed"));
  EXPECT_THAT(text, testing::Not(HasSubstr("speedup ")));
}

}  // namespace
}  // namespace kforge

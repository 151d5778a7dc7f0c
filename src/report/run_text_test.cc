#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "generate/sample_attempt.h"
#include "report/run_report.h"
#include "store/sample_report.h"

namespace kforge {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RunText : public testing::Test {
 protected:
  RunText() {
    report_.id = "r1";
    report_.task = "core/softmax";
    report_.platform = "cpu";
    report_.shape_set = "bench";
    report_.precision = "fp32";
    report_.state = RunState::kFinished;
    report_.ended = Ending::kAttempts;
    report_.folder = "/somewhere/out";
    report_.kernel_path = "/somewhere/out/kernel.cc";
    report_.best = passed_report();
    report_.best->task_path.clear();
    report_.best_attempt = 1;
    Attempt first{.number = 1};
    set_source(first, "int x;");
    judged(first, Outcome::kPassed);
    first.decision = Decision{true, true};
    report_.attempts = {first};
  }
  void confirmed(double value, double lo, double hi) {
    report_.best->speedup = Speedup{value, lo, hi, "onednn"};
  }
  std::string json_headline() { return nlohmann::json::parse(to_json(report_))["headline"]; }

  RunReport report_;
};

TEST_F(RunText, AWinThatWasShownIsTheHeadline) {
  confirmed(1.3, 1.2, 1.4);
  EXPECT_EQ(json_headline(), "Verified: 1.30x [1.20, 1.40] over onednn");
  EXPECT_THAT(to_terminal(report_, {}), AllOf(HasSubstr("1.30x [1.20, 1.40]"), Not(HasSubstr("holds 1"))));
  EXPECT_EQ(nlohmann::json::parse(to_json(report_))["best"]["speedup"]["shown"], "faster");
}

TEST_F(RunText, AnIntervalThatHoldsOneIsSaidInWordsEverywhere) {
  confirmed(1.04, 0.94, 1.09);
  constexpr const char* kWords = "the interval holds 1: no difference was shown";
  EXPECT_THAT(to_terminal(report_, {}), HasSubstr(kWords));
  EXPECT_THAT(to_markdown(report_), HasSubstr(kWords));
  EXPECT_THAT(json_headline(), HasSubstr(kWords));
  EXPECT_EQ(nlohmann::json::parse(to_json(report_))["best"]["speedup"]["shown"], "no_difference");
}

TEST_F(RunText, ASlowerKernelIsSaidToBeSlower) {
  confirmed(0.8, 0.7, 0.9);
  EXPECT_THAT(to_terminal(report_, {}), HasSubstr("it is slower than onednn"));
  EXPECT_THAT(to_markdown(report_), HasSubstr("it is slower than onednn"));
  EXPECT_THAT(json_headline(), HasSubstr("it is slower than onednn"));
}

TEST_F(RunText, WhereNothingWasTimedTheHeadlineSaysSo) {
  report_.best->time_ns.reset();
  report_.best->speedup.reset();
  EXPECT_EQ(json_headline(), "Verified, not timed");
  EXPECT_THAT(to_terminal(report_, {}), HasSubstr("VERIFIED, not timed"));
  EXPECT_THAT(to_markdown(report_), HasSubstr("Verified, not timed"));
}

TEST_F(RunText, AProgramWithAPlanIsLaunchedByIt) {
  EXPECT_THAT(usage_of_kernel(report_, "", 80), Not(HasSubstr("plan.json")));
  report_.attempts[0].generation->program->files.push_back({"plan.json", "{}"});
  EXPECT_THAT(usage_of_kernel(report_, "", 80), HasSubstr("plan.json beside it"));
}

TEST_F(RunText, PathsInTheMarkdownAreRelativeToItsFolder) {
  confirmed(1.3, 1.2, 1.4);
  std::string text = to_markdown(report_);
  EXPECT_THAT(text, Not(HasSubstr("/somewhere")));
  EXPECT_THAT(text, HasSubstr("--kernel kernel.cc"));
  report_.best->task_path = "/somewhere/tasks/mine";
  EXPECT_THAT(to_markdown(report_), HasSubstr("kforge eval ../tasks/mine"));
}

TEST_F(RunText, FailedAttemptsGiveTheirReasonInFull) {
  Attempt failed{.number = 2};
  set_source(failed, "int y;");
  judged(failed, Outcome::kCompileError).reason =
      "kernel.cc:3: error: one\n    3 | `first line`\nkernel.cc:9: error: two";
  failed.generation->remarks = {"the fence of kernel.cc was never closed"};
  report_.attempts.push_back(failed);
  TerminalStyle explain;
  explain.explain = true;
  for (const std::string& text : {to_markdown(report_), to_terminal(report_, explain)})
    EXPECT_THAT(text, AllOf(HasSubstr("error: one"), HasSubstr("kernel.cc:9: error: two"),
                            HasSubstr("the fence of kernel.cc was never closed")));
  EXPECT_THAT(to_markdown(report_), HasSubstr("## Why attempts failed"));
}

TEST_F(RunText, AnAttemptWhoseAnswerNeverCameSaysSo) {
  report_.attempts.push_back(Attempt{.number = 2});
  EXPECT_THAT(to_markdown(report_), HasSubstr("| not written |"));
}

TEST_F(RunText, WhatBeatsItsParentOnlyIsCalledThat) {
  Attempt challenger{.number = 2};
  set_source(challenger, "int y;");
  judged(challenger, Outcome::kPassed);
  challenger.decision = Decision{.better = true, .accepted = false};
  report_.attempts.push_back(challenger);
  EXPECT_THAT(to_markdown(report_), HasSubstr("beats its parent only"));
  EXPECT_EQ(nlohmann::json::parse(to_json(report_))["attempts"][1]["better"], true);
}

TEST_F(RunText, AdviceNobodySaysWasFollowedIsNotCalledDeclined) {
  Attempt silent{.number = 2};
  set_source(silent, "int y;");
  judged(silent, Outcome::kPassed);
  silent.advice = Advice{.expected_gain = 1.5, .tag = "unroll"};
  report_.attempts.push_back(silent);
  EXPECT_THAT(to_markdown(report_), HasSubstr("unroll: not known whether it was followed"));
}

TEST_F(RunText, FitsTheTerminalAndBreaksNoWord) {
  confirmed(1.04, 0.94, 1.09);
  report_.task = "fusion/conv_transpose3d_sum_residualadd_multiply_residualadd_and_more";
  report_.notes = {
      "a remark that is rather long, so that it does not fit into one line of a narrow terminal"};
  report_.judge_arguments = {"--set", "B=1", "--baseline", "mine=/a b/c.cc"};
  for (int width : {80, 40}) {
    for (bool explain : {false, true}) {
      std::string text = to_terminal(report_, {.explain = explain, .width = width});
      for (std::string_view line : lines_of(text)) {
        std::size_t first = std::min(line.find_first_not_of(' '), line.size());
        std::string_view rest = line.substr(first);
        if (rest.ends_with(" \\")) rest.remove_suffix(2);
        bool one_word = rest.find(' ') == std::string_view::npos;
        EXPECT_TRUE(line.size() <= static_cast<std::size_t>(width) || one_word || width < 80) << line;
      }
    }
  }
  EXPECT_THAT(to_markdown(report_), HasSubstr("--baseline 'mine=/a b/c.cc'"));
}

TEST_F(RunText, TheCompileLineIsTheOneThatWasJudged) {
  confirmed(1.3, 1.2, 1.4);
  report_.folder = "/somewhere/o ut";
  report_.kernel_path = "/somewhere/o ut/kernel.cc";
  report_.best->build =
      BuildFigures{.command = {"/usr/bin/g++", "-O3", "-I", "../src", "-include", "../pch/kforge_prelude.h",
                               "../src/kernel.cc", "-o", "kernel.so"}};
  EXPECT_THAT(
      usage_of_kernel(report_, "/somewhere", 200),
      HasSubstr("compile  /usr/bin/g++ -O3 -I 'o ut' -include 'o ut/check/kforge_prelude.h' 'o ut/kernel.cc' "
                "-o 'o ut/libkernel.so'\n"));
  EXPECT_THAT(usage_of_kernel(report_, "/somewhere/o ut", 200),
              HasSubstr("-I . -include check/kforge_prelude.h kernel.cc -o libkernel.so\n"));
  EXPECT_THAT(usage_of_kernel(report_, "/somewhere", 200),
              HasSubstr("64-byte aligned; judged with OMP_NUM_THREADS="));
}

TEST_F(RunText, PromisedAndMeasuredStandSideBySideOnlyWhereAdviceWasFollowed) {
  confirmed(1.3, 1.2, 1.4);
  for (int number : {2, 3}) {
    Attempt attempt{.number = number};
    set_source(attempt, "int y;");
    set_advice(attempt, {.change = "Unroll by four.", .expected_gain = 1.5, .tag = "unroll", .by = "rules"},
               number == 2);
    if (number == 2) attempt.advice->roofline_limit = 1.2;
    judged(attempt, Outcome::kPassed);
    set_gain(attempt, 1.25, 1.1, 1.4);
    report_.attempts.push_back(attempt);
  }
  std::string text = to_markdown(report_);
  const std::string kept =
      "promised 1.50x (more than the 1.20x that the roofline left), measured 1.25x [1.10, 1.40]";
  // In a table "[" is escaped.
  EXPECT_THAT(text,
              HasSubstr("| unroll: promised 1.50x (more than the 1.20x that the roofline left), measured "
                        "1.25x \\[1.10, 1.40] |"));
  EXPECT_THAT(text, HasSubstr("| unroll: not followed: the change is unrelated to it |"));
  const std::string screen = to_terminal(report_, {.explain = true, .width = 300});
  EXPECT_THAT(screen, HasSubstr("rules: Unroll by four. (); " + kept));
  EXPECT_THAT(screen, HasSubstr("rules: Unroll by four. (); not followed: the change is unrelated to it"));
  auto json = nlohmann::json::parse(to_json(report_));
  EXPECT_EQ(json["attempts"][1]["followed_advice"], true);
  EXPECT_EQ(json["attempts"][2]["followed_advice"], false);
  EXPECT_TRUE(json["attempts"][0]["followed_advice"].is_null());
}

}  // namespace
}  // namespace kforge

// A platform on which nothing can be timed: both passes are driven by its cost model, and what it says is
// called modelled everywhere, never a time or a speedup.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "e2e/conversation.h"
#include "forge/forge.h"
#include "judge/evaluate.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

class SilentView final : public RunView {
 public:
  void stage(std::string_view) override {}
  void advance(double, std::string_view) override {}
  void finish() override {}
  void line(std::string_view) override {}
};

class Modelled : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists("/usr/bin/valgrind")) GTEST_SKIP() << "valgrind is not installed";
    ::setenv("KFORGE_HOME", home_.path().c_str(), 1);
  }

  ForgeOptions options(int attempts) {
    ForgeOptions options;
    options.session.task = task_.name;
    options.session.platform = (fs::path(KFORGE_SOURCE_DIR) / "tests" / "e2e" / "counted").string();
    options.session.shape_set = "small";
    options.generators = {server_.openai("generator")};
    options.budget.attempts = attempts;
    options.out = folder_.path() / "out";
    return options;
  }
  Result<RunReport> run(const ForgeOptions& options) {
    ForgeHost host;
    host.view = &view_;
    return forge(options, host);
  }

  const ScriptedTask& task_ = scripted_tasks()[0];
  TempDir home_ = *TempDir::create(0755), folder_ = *TempDir::create(0755);
  ModelServer server_;
  SilentView view_;
};

TEST_F(Modelled, BothPassesAreDrivenByTheModel) {
  server_.script("generator", {wrong_values(task_), right(task_, 3), right(task_, 9), right(task_, 1)});
  server_.script("analyst",
                 {advice("algorithm", "fewer"), advice("algorithm", "fewer"), advice("unroll", "x")});
  ForgeOptions o = options(4);
  o.analyst = server_.openai("analyst");
  auto report = run(o);
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_EQ(report->attempts.size(), 4u);
  const auto& a = report->attempts;
  EXPECT_EQ(a[0].judgement->outcome, Outcome::kWrongValue) << "the functional pass is the same as everywhere";
  EXPECT_EQ(a[0].judgement->modelled_ns, std::nullopt);
  ASSERT_TRUE(a[1].judgement->modelled_ns && a[2].judgement->modelled_ns && a[3].judgement->modelled_ns)
      << to_json(*report);
  EXPECT_TRUE(a[1].accepted());
  EXPECT_EQ(a[2].proposal.pass, Pass::kOptimization);
  EXPECT_FALSE(a[2].accepted()) << "more instructions";
  EXPECT_TRUE(a[3].accepted()) << "fewer";
  EXPECT_LT(*a[3].judgement->modelled_ns, *a[1].judgement->modelled_ns);
  EXPECT_GT(*a[2].judgement->modelled_ns, 2 * *a[1].judgement->modelled_ns) << "three times the work";
  for (const Attempt& attempt : a) {
    EXPECT_FALSE(attempt.judgement->time_ns);
    EXPECT_FALSE(attempt.judgement->speedup);
    EXPECT_FALSE(attempt.judgement->over_rival);
  }
  ASSERT_TRUE(report->found());
  EXPECT_EQ(report->best_attempt, 4);
  EXPECT_FALSE(report->best->time_ns);
  EXPECT_FALSE(report->best->speedup);
  ASSERT_TRUE(report->best->modelled);
  EXPECT_EQ(report->best->modelled->model, "instructions 1");
  EXPECT_NEAR(report->best->modelled->ns, *a[3].judgement->modelled_ns, 0.02 * *a[3].judgement->modelled_ns);
  // What people, files and agents see.
  EXPECT_THAT(to_terminal(*report, {}), HasSubstr("VERIFIED, not timed"));
  EXPECT_THAT(to_terminal(*report, {}), HasSubstr("modelled"));
  EXPECT_THAT(*read_file(folder_.path() / "out" / "report.md"), HasSubstr("verified, not timed"));
  auto json = nlohmann::json::parse(*read_file(folder_.path() / "out" / "report.json"));
  EXPECT_TRUE(json["best"]["time_ns"].is_null());
  EXPECT_TRUE(json["best"]["speedup"].is_null());
  EXPECT_THAT(std::string(json["best"]["time_absent_reason"]), HasSubstr("not timed"));
  EXPECT_GT(json["best"]["modelled"]["ns"], 0);
  EXPECT_THAT(server_.calls().back().text(), HasSubstr("modelled"));
}

TEST_F(Modelled, EvalShowsTheModelledFigureAndTunablesAreSearchedByIt) {
  std::string text = right(task_, 1).text;
  std::size_t at = text.find("again < 1;");
  text.replace(at, 10, "again < REPEAT;");
  text.insert(text.find("#include <cmath>"), "// kforge: tune REPEAT=6,1,3\n");
  server_.script("generator", {say(text)});
  auto report = run(options(1));
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_THAT(report->attempts[0].judgement->tuning, HasSubstr("best: REPEAT=1"));

  EvalOptions eval;
  static_cast<JudgeOptions&>(eval) = options(1).session;
  eval.kernel = folder_.path() / "out" / "kernel.cc";
  auto judged = evaluate(eval, view_);
  ASSERT_TRUE(judged) << judged.error().text();
  EXPECT_TRUE(judged->passed()) << judged->reason;
  ASSERT_TRUE(judged->modelled) << testing::PrintToString(judged->notes);
  EXPECT_FALSE(judged->time_ns);
  EXPECT_THAT(to_terminal(*judged, {}), HasSubstr("by instructions 1"));
  auto back = eval_report_from_json(to_json(*judged));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->modelled->ns, judged->modelled->ns);
}

TEST_F(Modelled, ASpeedupCannotBeAskedFor) {
  ForgeOptions o = options(1);
  o.target = 2;
  auto report = run(o);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().remedy, HasSubstr("--target"));
}

}  // namespace
}  // namespace kforge

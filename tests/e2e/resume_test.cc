// A run killed at every step: the process dies right after the n-th record is on disk, or while a model is
// talking; another one resumes it. No finished step is repeated, no reply that was received is asked for
// again, and the run ends as it would have.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "base/files.h"
#include "e2e/conversation.h"
#include "forge/forge.h"

namespace kforge {
namespace {

constexpr int kDied = 77;

class SilentView final : public RunView {
 public:
  void stage(std::string_view) override {}
  void advance(double, std::string_view) override {}
  void finish() override {}
  void line(std::string_view) override {}
};

int steps_until_death = -1;  // -1: lives on
void step() {
  if (steps_until_death > 0 && --steps_until_death == 0) ::_exit(kDied);
}

// Answers by attempt, and notes every question in a file that outlives it.
class NotingModel final : public ModelClient {
 public:
  explicit NotingModel(fs::path notes) : notes_(std::move(notes)) {}
  std::string name() const override { return "scripted"; }
  bool accepts_images() const override { return false; }
  Result<ModelReply> ask(const ModelRequest& request, const ReplyWatch&) override {
    std::ofstream(notes_, std::ios::app)
        << fmt::format("{}-{}-{}\n", request.role, request.attempt, request.ordinal) << std::flush;
    step();  // dies while the model is talking
    const ScriptedTask& task = scripted_tasks()[0];
    ModelReply reply;
    if (request.role == "analyst") {
      reply.text = advice("algorithm", "compute it once").text;
    } else {
      reply.text = right(task, request.attempt == 1 ? task.slow / 10 : 1).text;
    }
    reply.usage.output = 10;
    return reply;
  }

 private:
  fs::path notes_;
};

class Resume : public testing::Test {
 protected:
  void SetUp() override {
    fs::path home = fs::path(KFORGE_BINARY_DIR) / "e2e_resume_home";
    fs::create_directories(home);
    ::setenv("KFORGE_HOME", home.c_str(), 1);
  }

  // In a process of its own; its exit code.
  template <class F>
  static int in_child(F&& work) {
    pid_t child = ::fork();
    if (child == 0) {
      work();
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  ForgeHost host() {
    ForgeHost host;
    host.view = &view_;
    host.open_model = [this](std::string_view) -> Result<std::unique_ptr<ModelClient>> {
      return std::make_unique<NotingModel>(notes_);
    };
    return host;
  }

  ForgeOptions options() {
    ForgeOptions options;
    options.session.task = "core/relu";
    options.session.shape_set = "small";
    options.session.baselines = {"none"};
    options.generators = {"scripted"};
    options.analyst = "scripted";
    options.budget.attempts = 2;
    options.session.sandbox = SandboxTier::kNone;  // starts sooner; what is tested is the loop
    options.timing_rounds = 5;
    options.session.cold = false;
    options.without = {"profile", "assembly"};
    options.out = folder_.path() / "out";
    return options;
  }

  std::map<std::string, int> questions() {
    std::map<std::string, int> counts;
    std::ifstream file(notes_);
    for (std::string line; std::getline(file, line);) ++counts[line];
    return counts;
  }

  TempDir folder_ = *TempDir::create(0755);
  fs::path notes_ = folder_.path() / "notes";
  SilentView view_;
};

TEST_F(Resume, AfterADeathAtEveryStepTheRunEndsAsItWouldHave) {
  int deaths = 0;
  for (int at = 1; at < 60; ++at) {
    fs::remove(notes_);
    fs::remove_all(folder_.path() / "out");  // of the run before: another one does not overwrite it
    int code = in_child([&] {
      after_run_record = step;
      steps_until_death = at;
      auto report = forge(options(), host());
      if (!report) ::_exit(3);
    });
    if (code == 0) break;  // it has fewer steps than that
    ASSERT_EQ(code, kDied) << "step " << at;
    ++deaths;
    auto records = RunRecords::open();
    ASSERT_TRUE(records);
    std::string id = (*records)->run("last")->id;
    auto before = *(*records)->attempts(id);
    auto asked_before = questions();
    auto received_before = *(*records)->calls(id);

    code = in_child([&] {
      auto report = resume("last", host());
      if (!report) {
        fmt::print(stderr, "{}\n", report.error().text());
        ::_exit(3);
      }
    });
    ASSERT_EQ(code, 0) << "resumed after step " << at;
    auto report = report_of(**records, id);
    ASSERT_TRUE(report) << report.error().text();
    SCOPED_TRACE(fmt::format("killed after step {}", at));
    EXPECT_EQ(report->state, RunState::kFinished);
    EXPECT_EQ(report->ended, Ending::kAttempts);
    ASSERT_EQ(report->attempts.size(), 2u);
    EXPECT_EQ(report->attempts[0].judgement->outcome, Outcome::kPassed);
    EXPECT_EQ(report->attempts[1].proposal.parent, 1);
    EXPECT_EQ(report->attempts[1].proposal.pass, Pass::kOptimization);
    EXPECT_TRUE(report->found());  // which one is the faster is a matter of time, and not of this test
    // Finished steps stand.
    auto after = *(*records)->attempts(id);
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(after[i].proposal.pass, before[i].proposal.pass);
      EXPECT_EQ(after[i].proposal.parent, before[i].proposal.parent);
      if (before[i].generation) {
        EXPECT_EQ(after[i].generation->change, before[i].generation->change);
        EXPECT_EQ(after[i].generation->seconds, before[i].generation->seconds);
      }
      if (before[i].judgement) {
        EXPECT_EQ(after[i].judgement->clock, before[i].judgement->clock);
        EXPECT_EQ(after[i].judgement->time_ns, before[i].judgement->time_ns);
        EXPECT_EQ(after[i].judgement->result, before[i].judgement->result);
      }
    }
    // Nothing received was asked for again.
    auto asked = questions();
    for (const StoredCall& call : received_before)
      if (call.state == CallState::kReceived) {
        std::string key = fmt::format("{}-{}-{}", call.key.role, call.key.attempt, call.key.ordinal);
        EXPECT_EQ(asked[key], asked_before[key]) << key;
      }
    if (HasFailure()) break;
  }
  EXPECT_GT(deaths, 15) << "every step was hit";
}

TEST_F(Resume, ARunThatAProcessWorksOnIsRefusedAndFreeOnceItDies) {
  int waiting[2];
  ASSERT_EQ(::pipe(waiting), 0);
  pid_t worker = ::fork();
  if (worker == 0) {
    after_run_record = [&] {
      (void)!::write(waiting[1], "x", 1);
      for (;;) ::pause();
    };
    (void)forge(options(), host());
    ::_exit(3);
  }
  char byte;
  ASSERT_EQ(::read(waiting[0], &byte, 1), 1);
  auto records = RunRecords::open();
  ASSERT_TRUE(records);
  std::string id = (*records)->run("last")->id;
  EXPECT_TRUE((*records)->held(id));
  auto second = resume(id, host());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another process is working on run " + id), std::string::npos);

  ::kill(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
  EXPECT_FALSE((*records)->held(id));
  auto alone = resume(id, host());
  ASSERT_TRUE(alone) << alone.error().text();
  EXPECT_EQ(alone->state, RunState::kFinished);
}

}  // namespace
}  // namespace kforge

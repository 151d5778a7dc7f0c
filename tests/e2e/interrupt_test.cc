// Ctrl-C while a model is being waited for, and while its program is judged: the run ends at once with the
// best so far, and goes on later where it was.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "e2e/background_run.h"
#include "e2e/conversation.h"

namespace kforge {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;

class Interrupt : public BackgroundRun {
 protected:
  std::vector<std::string> command() const {
    return {"forge",       task_.name,
            "--shapes",    "small",
            "--baseline",  "none",
            "--generator", server_.openai("generator"),
            "--without",   "profile,assembly",
            "--attempts",  "2",
            "--rounds",    "5",
            "--out",       (folder_.path() / "out").string(),
            "--json"};
  }

  json report() const { return json::parse(output(), nullptr, false); }

  // The first attempt stands, the second was cut short; resumed, it is made.
  void expect_best_so_far_and_resume(int exit_code, const json& stopped, const std::string& said) {
    EXPECT_EQ(exit_code, 130) << said;
    EXPECT_THAT(said, HasSubstr("stopping with the best so far"));
    EXPECT_EQ(stopped["ended"], "interrupted");
    EXPECT_EQ(stopped["state"], "running");
    EXPECT_EQ(stopped["best"]["outcome"], "passed");
    EXPECT_EQ(stopped["best"]["attempt"], 1);
    EXPECT_TRUE(fs::exists(folder_.path() / "out" / "kernel.cc"));
    pid_t child = start({"forge", "--resume", stopped["run"], "--json"});
    EXPECT_EQ(end_of(child), 0) << errors();
    json whole = report();
    ASSERT_TRUE(whole.is_object()) << errors();
    EXPECT_EQ(whole["state"], "finished");
    EXPECT_EQ(whole["attempts"].size(), 2u);
    EXPECT_EQ(whole["attempts"][0]["result"], stopped["attempts"][0]["result"]) << "not judged again";
  }

  // The signal, and what follows: it leaves without finishing whatever it was at. Two seconds of processor
  // time, which two threads that compute use up in one: the wall tells nothing on a busy machine.
  void expect_to_leave_at_once(pid_t child) {
    const double before = processor_seconds(child);
    auto start_of_end = std::chrono::steady_clock::now();
    ::kill(child, SIGINT);
    EXPECT_EQ(end_of(child), 130) << errors();
    EXPECT_LT(processor_seconds_in_all() - before, 2);
    EXPECT_LT(std::chrono::steady_clock::now() - start_of_end, std::chrono::seconds(20));
    EXPECT_THAT(errors(), HasSubstr("interrupted"));
  }

  json run_record(const std::string& id) {
    const json all = json::parse(kforge_run({"runs", "--json"}).out);
    for (const json& run : all["runs"])
      if (run["id"] == id) return run;
    return nullptr;
  }

  const ScriptedTask& task_ = scripted_tasks()[0];
  ModelServer server_;
};

TEST_F(Interrupt, WhileAModelIsWaitedFor) {
  const ModelStep hang = fault(ModelStep::Kind::kHang);
  server_.script("generator", {right(task_, task_.slow), hang, hang, right(task_, 1)});
  pid_t child = start(command());
  ASSERT_TRUE(comes_true([&] { return server_.calls().size() >= 2; })) << errors();
  ::kill(child, SIGINT);
  int code = end_of(child);
  json stopped = report();
  ASSERT_TRUE(stopped.is_object()) << errors();
  const std::string run = stopped["run"], said = errors();
  EXPECT_EQ(run_record(run)["activity"], "stopped");
  EXPECT_EQ(run_record(run)["ended"], "interrupted");

  // Resumed and then killed: what happened last is told, not what happened before.
  child = start({"forge", "--resume", run, "--json"});
  ASSERT_TRUE(comes_true([&] { return server_.calls().size() >= 3; })) << errors();
  EXPECT_EQ(run_record(run)["activity"], "waiting");
  ::kill(child, SIGKILL);
  end_of(child);
  EXPECT_EQ(run_record(run)["activity"], "dead");
  EXPECT_EQ(run_record(run)["ended"], nullptr);

  expect_best_so_far_and_resume(code, stopped, said);
  EXPECT_EQ(server_.calls().size(), 4u) << "the reply that was received is not asked for again";
}

// Minutes of work before the first candidate, and nothing to lose: it does not wait for the step under way.
TEST_F(Interrupt, WhileALargeTaskIsPreparedItLeavesAtOnce) {
  pid_t child = start({"forge", "core/matmul", "--set", "M=6000,N=6000,K=6000", "--baseline", "none", "--out",
                       (folder_.path() / "out").string(), "--json"});
  ASSERT_TRUE(comes_true([&] { return processor_seconds(child) > 3; })) << errors();  // deep in the oracle
  expect_to_leave_at_once(child);
}

TEST_F(Interrupt, WhileBaselinesAreMadeItLeavesAtOnce) {
  pid_t child = start({"forge", "core/matmul", "--set", "M=4000,N=4000,K=4000", "--baseline", "onednn",
                       "--out", (folder_.path() / "out").string(), "--json"});
  auto at_work = [&] {
    return std::ranges::any_of(programs_below(child), [](const std::string& line) {
      return line.find("kforge-onednn") != std::string::npos;
    });
  };
  ASSERT_TRUE(comes_true(at_work)) << errors();
  expect_to_leave_at_once(child);
}

// The user's module computes for ever. Nothing of it stays, neither a process nor a folder.
TEST_F(Interrupt, WhileAModuleIsImportedItLeavesAtOnce) {
  fs::path temporary = folder_.path() / "tmp", module = folder_.path() / "endless.py";
  fs::create_directory(temporary);
  fs::permissions(temporary, fs::perms(0777));
  env_["TMPDIR"] = temporary.string();
  std::ofstream(module) << "import torch\nwhile True: pass\n";
  pid_t child = start({"forge", module.string(), "--out", (folder_.path() / "out").string(), "--json"});
  int code = -1;
  auto at_work = [&] {
    return std::ranges::any_of(programs_below(child), [](const std::string& line) {
      return line.find("kforge_bridge_main.py") != std::string::npos;
    });
  };
  ASSERT_TRUE(comes_true([&] { return at_work() || ::waitpid(child, &code, WNOHANG) == child; }));
  if (code != -1) GTEST_SKIP() << "no Python with PyTorch: " << output() << errors();
  expect_to_leave_at_once(child);
  EXPECT_TRUE(fs::is_empty(temporary)) << fs::directory_iterator(temporary)->path();
}

// Each call of the second program takes about a second, and the gates want dozens of them.
TEST_F(Interrupt, WhileAProgramIsJudged) {
  server_.script("generator", {right(task_, task_.slow), right(task_, 500 * task_.slow)});
  std::vector<std::string> words = command();
  words.insert(words.end(), {"--timeout", "60"});
  pid_t child = start(words);
  ASSERT_TRUE(comes_true([&] { return server_.calls().size() >= 2; })) << errors();
  std::this_thread::sleep_for(milliseconds(1500));  // compiled by now, or not: it must not matter
  auto start_of_end = std::chrono::steady_clock::now();
  ::kill(-child, SIGINT);  // the whole group, as a terminal does
  int code = end_of(child);
  auto took = std::chrono::steady_clock::now() - start_of_end;
  EXPECT_LT(took, std::chrono::seconds(50)) << "it does not wait for the program to finish";
  EXPECT_EQ(code, 130) << errors();
  json stopped = report();
  ASSERT_TRUE(stopped.is_object()) << errors();
  EXPECT_EQ(stopped["ended"], "interrupted");
  EXPECT_EQ(stopped["best"]["attempt"], 1);
  EXPECT_EQ(stopped["attempts"][1]["outcome"], "pending") << "what a signal cut short is no verdict";
  EXPECT_EQ(server_.calls().size(), 2u);
}

}  // namespace
}  // namespace kforge

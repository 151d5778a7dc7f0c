// Ctrl-C while a model is being waited for, and while its program is judged: the run ends at once with the
// best so far, and goes on later where it was.
#include <fmt/core.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

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
  void expect_best_so_far_and_resume(int exit_code) {
    EXPECT_EQ(exit_code, 130) << errors();
    EXPECT_THAT(errors(), HasSubstr("stopping with the best so far"));
    json stopped = report();
    ASSERT_TRUE(stopped.is_object()) << errors();
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

  const ScriptedTask& task_ = scripted_tasks()[0];
  ModelServer server_;
};

TEST_F(Interrupt, WhileAModelIsWaitedFor) {
  server_.script("generator", {right(task_, task_.slow), fault(ModelStep::Kind::kHang), right(task_, 1)});
  pid_t child = start(command());
  ASSERT_TRUE(comes_true([&] { return server_.calls().size() >= 2; })) << errors();
  ::kill(child, SIGINT);
  expect_best_so_far_and_resume(end_of(child));
  EXPECT_EQ(server_.calls().size(), 3u) << "the reply that was received is not asked for again";
}

// Minutes of work before the first candidate, and nothing to lose: it does not wait for the step under way.
TEST_F(Interrupt, WhileALargeTaskIsPreparedItLeavesAtOnce) {
  pid_t child = start({"forge", "core/matmul", "--set", "M=6000,N=6000,K=6000", "--baseline", "none", "--out",
                       (folder_.path() / "out").string(), "--json"});
  ASSERT_TRUE(comes_true([&] {
    auto processor = read_file(fmt::format("/proc/{}/stat", child)).value_or("");
    std::istringstream fields(processor.substr(std::min(processor.rfind(')') + 1, processor.size())));
    std::string word;
    long ticks = 0;
    for (int i = 3; i <= 14 && fields >> word; ++i)
      if (i == 14) ticks = std::stol(word);
    return ticks > 3 * ::sysconf(_SC_CLK_TCK);  // deep in the oracle
  })) << errors();
  auto start_of_end = std::chrono::steady_clock::now();
  ::kill(child, SIGINT);
  EXPECT_EQ(end_of(child), 130) << errors();
  // Two seconds on a free machine.
  EXPECT_LT(std::chrono::steady_clock::now() - start_of_end, std::chrono::seconds(20));
  EXPECT_THAT(errors(), HasSubstr("interrupted"));
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

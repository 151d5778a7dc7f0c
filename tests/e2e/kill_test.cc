// kill -9 while agents are waited for, through the mailbox: the run that is resumed asks the same question,
// byte for byte, and takes an answer that was written while nobody was there.
#include <map>
#include <nlohmann/json.hpp>

#include "e2e/background_run.h"
#include "e2e/conversation.h"

namespace kforge {
namespace {

using nlohmann::json;

class Kill : public BackgroundRun {
 protected:
  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::string mailbox = "mailbox:" + letters_.string();
    std::vector<std::string> words = {
        "forge",       task_.name, "--shapes", "small", "--baseline", "onednn",
        "--generator", mailbox,    "--rounds", "5",     "--out",      (folder_.path() / "out").string(),
        "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  std::string prompt(const std::string& name) const {
    return read_file(letters_ / (name + ".prompt.md")).value_or("");
  }
  void answer(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file_atomic(letters_ / (name + ".reply.md"), text));
  }
  std::string run_id() const {
    std::string owner = read_file(letters_ / ".kforge-run").value_or("\n");
    return owner.substr(0, owner.find('\n'));
  }
  json shown() const { return json::parse(kforge_run({"show", run_id(), "--json"}).out, nullptr, false); }

  // What `kforge runs` says it is doing.
  std::string activity() const {
    json list = json::parse(kforge_run({"runs", "--json"}).out, nullptr, false);
    for (const json& run : list["runs"])
      if (run["id"] == run_id()) return run["activity"];
    return "";
  }

  void kill_nine(pid_t child) {
    ::kill(child, SIGKILL);
    EXPECT_EQ(end_of(child), 128 + SIGKILL);
  }
  pid_t resume() { return start({"forge", "--resume", run_id(), "--json"}); }

  // Every question stands as it was first asked, and no answer was set aside.
  void expect_nothing_lost(const std::map<std::string, std::string>& asked) const {
    for (const auto& [name, text] : asked) EXPECT_EQ(prompt(name), text) << name;
    for (const fs::directory_entry& entry : fs::directory_iterator(letters_))
      EXPECT_EQ(entry.path().string().find(".old"), std::string::npos) << entry.path();
  }

  const ScriptedTask& task_ = scripted_tasks()[0];
  fs::path letters_ = folder_.path() / "letters";
};

TEST_F(Kill, WhileEachAgentIsWaitedFor) {
  const std::pair<std::string, std::string> letters[] = {
      {"generator-1-0", "Let me think about it first."},
      {"generator-1-1", right(task_, task_.slow).text},
      {"analyst-2-0", advice("algorithm", "compute it once").text},
      {"generator-2-0", right(task_, 1).text},
  };
  std::map<std::string, std::string> asked;
  pid_t child = start(command({"--attempts", "2", "--analyst", "mailbox:" + letters_.string()}));
  for (const auto& [name, text] : letters) {
    ASSERT_TRUE(comes_true([&] { return !prompt(name).empty(); })) << name << "\n" << errors();
    asked[name] = prompt(name);
    EXPECT_TRUE(comes_true([&] { return activity() == "waiting"; })) << name << " " << activity();
    kill_nine(child);
    EXPECT_EQ(activity(), "dead") << name;
    answer(name, text);
    child = resume();
  }
  EXPECT_EQ(end_of(child), 0) << errors();
  EXPECT_EQ(activity(), "finished");
  expect_nothing_lost(asked);
  EXPECT_NE(asked["generator-2-0"].find("# What profilers say about attempt 1"), std::string::npos);
  EXPECT_NE(asked["generator-2-0"].find("compute it once"), std::string::npos);
  json report = json::parse(output(), nullptr, false);
  ASSERT_TRUE(report.is_object()) << errors();
  EXPECT_EQ(report["state"], "finished");
  EXPECT_EQ(report["attempts"].size(), 2u);
  EXPECT_EQ(report["attempts"][1]["followed_advice"], true);
}

// One lane has been judged when the other is killed: what it is told must not change by that.
TEST_F(Kill, WhileOneOfSeveralLanesIsWaitedFor) {
  pid_t child = start(command({"--attempts", "2", "--strategy", "best-of", "--width", "2"}));
  ASSERT_TRUE(comes_true([&] {
    return !prompt("generator-1-0").empty() && !prompt("generator-2-0").empty();
  })) << errors();
  std::map<std::string, std::string> asked = {{"generator-1-0", prompt("generator-1-0")},
                                              {"generator-2-0", prompt("generator-2-0")}};
  auto turn = [](const std::string& text) { return text.substr(text.find("---- user ----")); };
  EXPECT_NE(turn(asked["generator-1-0"]).substr(30), turn(asked["generator-2-0"]).substr(30));
  answer("generator-1-0", right(task_, task_.slow).text);
  ASSERT_TRUE(comes_true([&] {
    json report = shown();
    return report.is_object() && report["attempts"][0]["outcome"] == "passed";
  })) << errors();
  kill_nine(child);
  answer("generator-2-0", right(task_, 1).text);
  EXPECT_EQ(end_of(resume()), 0) << errors();
  expect_nothing_lost(asked);
  EXPECT_EQ(shown()["attempts"][1]["outcome"], "passed");
}

}  // namespace
}  // namespace kforge

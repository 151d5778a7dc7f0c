// kforge suite, as a user runs it: a small folder of tasks with a broken one in it, killed and gone on with.
#include <signal.h>

#include <map>
#include <nlohmann/json.hpp>

#include "e2e/background_run.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SuiteCommand : public BackgroundRun {
 protected:
  void SetUp() override {
    fs::create_directories(tasks() / "level1");
    fs::create_directories(tasks() / "level2" / "2_broken");
    for (const char* name : {"relu", "softmax"})
      fs::copy(kRoot / "tasks/core" / name, tasks() / "level1" / (std::string("1_") + name),
               fs::copy_options::recursive);
    ASSERT_TRUE(write_file_atomic(tasks() / "level2/2_broken/task.toml", "name = 3\n"));
  }

  fs::path tasks() const { return folder_.path() / "tasks"; }
  fs::path suite() const { return folder_.path() / "suite"; }
  std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"suite", tasks().string(), "--shapes", "small", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static json parsed(const Finished& done) {
    json document = json::parse(done.out, nullptr, false);
    EXPECT_TRUE(document.is_object()) << done.out << done.err;
    return document;
  }
  std::size_t records() const {
    std::size_t count = 0;
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(suite() / "records", ignored))
      count += entry.path().extension() == ".json";
    return count;
  }
};

// The only test that searches: one attempt each, nothing timed against libraries.
TEST_F(SuiteCommand, KilledWhileItWorksGoesOnWithTheSameCommand) {
  const auto words = command({"--attempts", "1", "--baseline", "none", "--out", suite().string()});
  pid_t child = start(words);
  ASSERT_TRUE(comes_true([&] { return records() >= 1; })) << errors();
  ::kill(child, SIGKILL);
  EXPECT_EQ(end_of(child), 128 + SIGKILL);
  const std::size_t before = records();
  EXPECT_LT(before, 3u);

  Finished done = kforge_run(words);
  EXPECT_EQ(done.exit_code, 1) << done.out << done.err;  // one task is broken
  json report = parsed(done);
  EXPECT_EQ(report["finished"], 3);
  EXPECT_EQ(report["complete"], true);
  EXPECT_EQ(report["parts"][0]["score"]["correct"], 2);
  EXPECT_EQ(report["parts"][0]["by_level"]["level2"]["correct"], 0);
  EXPECT_EQ(report["parts"][0]["tasks"][2]["state"], "error");
  for (const char* file : {"report.md", "report.html", "report.csv", "runs/cpu/level1/1_relu/kernel.cc"})
    EXPECT_TRUE(fs::exists(suite() / file)) << file;

  // Listed as one line, shown again, compared with itself.
  const std::string id = report["suite"];
  json runs = parsed(kforge_run({"runs", "--json"}));
  for (const json& run : runs["runs"]) EXPECT_NE(run["suite"], id);
  EXPECT_GE(parsed(kforge_run({"runs", "--suite", id, "--json"}))["runs"].size(), 2u);
  EXPECT_EQ(parsed(kforge_run({"show", id, "--json"}))["suite"], id);
  EXPECT_EQ(kforge_run({"report", id, "-o", "-"}).out, *read_file(suite() / "report.html"));
  EXPECT_EQ(parsed(kforge_run({"compare", id, suite().string(), "--json"}))["problems"], 3);
  EXPECT_EQ(kforge_run({"compare", id, "2nosuchthing"}).exit_code, 2);

  // Nothing is left to do; another suite does not go into this folder.
  EXPECT_EQ(parsed(kforge_run({"suite", "--resume", id, "--json"}))["finished"], 3);
  Finished other = kforge_run(command({"--attempts", "2", "--out", suite().string()}));
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.out, HasSubstr("holds another suite"));

  // What it wrote can be judged by another suite, by name.
  Finished judged = kforge_run(command({"--kernels", (suite() / "runs/cpu").string(), "--only", "level1/*",
                                        "--out", (folder_.path() / "again").string(), "--", "--check"}));
  EXPECT_EQ(judged.exit_code, 0) << judged.err;
  EXPECT_EQ(parsed(judged)["parts"][0]["score"]["correct"], 2);
}

TEST_F(SuiteCommand, FitIsForPyTorchFilesAndSaysSoOnce) {
  Finished done = kforge_run(command({"--fit", "20ms", "--out", suite().string()}));
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.out, HasSubstr("level1/1_relu is none"));
  EXPECT_FALSE(fs::exists(suite()));
  EXPECT_THAT(kforge_run(command({"--fit", "20", "--out", suite().string()})).out, HasSubstr("such as 50ms"));
}

// A model, here somebody who answers letters, is asked with the block and without it, and the two are put
// side by side.
TEST_F(SuiteCommand, AnAblationAsksTheModelWithAndWithout) {
  const fs::path letters = folder_.path() / "letters";
  const std::string kernel =
      "```cpp\n#include \"task.h\"\nextern \"C\" void kernel(const float* x, float* y) {\n"
      "  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] < 0 ? 0 : x[i];\n}\n```\n";
  std::map<std::string, std::string> asked;
  auto answer_all = [&] {
    constexpr std::string_view kPrompt = ".prompt.md";
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(letters, ignored)) {
      std::string name = entry.path().filename().string();
      if (!name.ends_with(kPrompt) || asked.contains(name)) continue;
      asked[name] = read_file(entry.path()).value_or("");
      name.replace(name.size() - kPrompt.size(), kPrompt.size(), ".reply.md");
      EXPECT_TRUE(write_file_atomic(letters / name, kernel));
    }
    return records() >= 2;
  };
  pid_t child =
      start(command({"--only", "level1/1_relu", "-g", "mailbox:" + letters.string(), "--ablate", "example",
                     "--attempts", "1", "--baseline", "none", "--out", suite().string()}));
  ASSERT_TRUE(comes_true(answer_all)) << errors();
  EXPECT_EQ(end_of(child), 0) << errors();
  json report = json::parse(output(), nullptr, false);
  ASSERT_TRUE(report.is_object()) << errors();
  ASSERT_EQ(report["parts"].size(), 2u);
  EXPECT_EQ(report["parts"][1]["variant"], "without example");
  for (const json& part : report["parts"]) EXPECT_EQ(part["score"]["correct"], 1) << part.dump();
  ASSERT_EQ(report["ablations"].size(), 1u);
  EXPECT_EQ(report["ablations"][0]["problems"], 1);
  EXPECT_EQ(report["ablations"][0]["sides"].size(), 2u);
  // The example of the platform stood in one of the two letters.
  ASSERT_EQ(asked.size(), 2u);
  const std::size_t first = asked.begin()->second.size(), second = asked.rbegin()->second.size();
  EXPECT_GT(std::max(first, second), std::min(first, second) + 500);
}

TEST_F(SuiteCommand, InterruptedSaysHowToGoOn) {
  pid_t child = start(
      command({"--budget", "60s", "--baseline", "none", "--out", suite().string(), "--only", "level1/*"}));
  ASSERT_TRUE(comes_true([&] { return fs::exists(suite() / "lock"); })) << errors();
  ::kill(child, SIGINT);
  EXPECT_EQ(end_of(child), 130) << errors();
  json report = json::parse(output(), nullptr, false);
  ASSERT_TRUE(report.is_object()) << errors();
  EXPECT_EQ(report["complete"], false);
  EXPECT_EQ(parsed(kforge_run({"show", report["suite"], "--json"}))["finished"], report["finished"]);
  EXPECT_THAT(kforge_run({"show", report["suite"]}).out, HasSubstr("kforge suite --resume"));
}

TEST_F(SuiteCommand, WrongUsageIsToldOnceAndNotByEveryTask) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"suite", "--json"}, "suite needs tasks"},
      {{"suite", "cor", "--json"}, "did you mean 'core'?"},
      {{"suite", "core", "--only", "nothing*", "--json"}, "leaves none of"},
      {{"suite", "core", "--budget", "fast", "--json"}, "fast"},
      {{"suite", "core", "--json", "--", "--no-such-option"}, "--no-such-option"},
      {{"suite", "core", "--ablate", "example", "--json"}, "changes nothing for the built-in generator"},
      {{"suite", "core", "--kernels", ".", "--budget", "5s", "--json"},
       "--budget has no effect with --kernels"},
      {{"suite", "core", "--kernels", "no/such", "--json"}, "there is no folder no/such"},
      {{"suite", "--resume", "nosuch", "--json"}, "there is no suite nosuch"},
      {{"suite", "--resume", "last", "--budget", "5s", "--json"}, "--budget has no effect with --resume"},
  };
  for (const auto& [words, message] : cases) {
    Finished done = kforge_run(words);
    EXPECT_EQ(done.exit_code, 2) << message;
    EXPECT_THAT(done.out, HasSubstr(message));
  }
}

}  // namespace
}  // namespace kforge

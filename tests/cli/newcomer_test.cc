// Mistakes and surroundings of somebody who uses KForge for the first time.
#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/kforge_run.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Through a shell, for what only a shell can set up.
Finished in_shell(const std::string& script, const fs::path& home = shared_home()) {
  Command command{.argv = {"/bin/sh", "-c", script}, .timeout = std::chrono::minutes(2)};
  command.env = user_environment(home);
  (*command.env)["KFORGE"] = kProgram;
  auto done = run_command(command);
  EXPECT_TRUE(done) << done.error().text();
  return done ? *done : Finished{.exit_code = -1};
}

TEST(Newcomer, UsageErrorsAreJsonWhenJsonWasAskedFor) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"eval", "core/relu", "--bogus", "--json"},
        {"eval", "--json"},
        {"froge", "--json"},
        {"results", "--outcome", "nice", "--json"},
        {"forge", "--json"}}) {
    Finished done = kforge_run(words);
    EXPECT_EQ(done.exit_code, 2) << done.out;
    json error = json::parse(done.out, nullptr, false);
    ASSERT_TRUE(error.is_object()) << words[0] << ": " << done.out << done.err;
    EXPECT_EQ(error["schema"], "kforge.error/1");
    EXPECT_NE(error["error"], "");
  }
  EXPECT_THAT(kforge_run({"eval", "x", "--", "--json"}).err, HasSubstr("kforge: ")) << "a name, no option";
}

TEST(Newcomer, AFullDeviceIsAnError) {
  for (const char* words : {"tasks", "tasks --json", "version", "--help", "help", "results --json"}) {
    Finished done = in_shell(std::string("\"$KFORGE\" ") + words + " > /dev/full");
    EXPECT_EQ(done.exit_code, 2) << words;
    EXPECT_THAT(done.err, HasSubstr("the output could not be written: No space left on device")) << words;
  }
}

TEST(Newcomer, AReaderThatLeavesEarlyIsNoTrouble) {
  Finished done = in_shell("\"$KFORGE\" tasks --json | head -1");
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, "{\n");
  EXPECT_EQ(done.err, "");
}

TEST(Newcomer, WordsFromElsewhereGetASuggestion) {
  EXPECT_THAT(kforge_run({"forge", "core/relu", "--platform", "cpu"}).err, HasSubstr("did you mean '--on'?"));
  EXPECT_THAT(kforge_run({"forge", "core/relu", "--output", "x"}).err, HasSubstr("did you mean '--out'?"));
  EXPECT_THAT(kforge_run({"verify"}).err, HasSubstr("did you mean 'eval'?"));
  EXPECT_THAT(kforge_run({"eval", "core/relu", "--on", "cpuu", "-k", "x.cc"}).err,
              HasSubstr("did you mean 'cpu'?"));
  EXPECT_THAT(kforge_run({"tasks", "--platform", "cpu"}).err, Not(HasSubstr("--on"))) << "it has none";
}

TEST(Newcomer, DataThatAreNotThereAreSaid) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"tasks"}, {"forge", "core/relu"}, {"platforms"}}) {
    Finished done = kforge_run(words, {.env = {{"KFORGE_DATA", "/nowhere"}}});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, HasSubstr("KFORGE_DATA: there is no folder /nowhere"));
  }
  TempDir empty = *TempDir::create();
  Finished done = kforge_run({"tasks"}, {.env = {{"KFORGE_DATA", empty.path().string()}}});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("there are no tasks in"));
}

class TaskByPath : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(task_);
    ASSERT_TRUE(write_file_atomic(task_ / "graph.onnx.txt",
                                  "relu (float[B, D] x) => (float[B, D] y)\n{\n  y = Relu (x)\n}\n"));
    ASSERT_TRUE(write_file_atomic(task_ / "task.toml",
                                  "description = \"relu\"\n[shapes]\nbench = { B = 1048576, D = 1048576 }\n"
                                  "small = { B = 8, D = 16 }\nodd = { B = 3, D = 5 }\n"));
  }
  TempDir folder_ = *TempDir::create(0755);
  fs::path task_ = folder_.path() / "it's a task";
};

TEST_F(TaskByPath, NextStepsNameItSoThatAShellFindsIt) {
  ASSERT_TRUE(write_file_atomic(folder_.path() / "empty.cc", ""));
  Finished done = kforge_run({"eval", task_.string(), "--shapes", "small", "--kernel",
                              (folder_.path() / "empty.cc").string(), "--json"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  std::string advice = json::parse(done.out)["advice"].dump();
  std::size_t begin = advice.find("`kforge tasks show ");
  ASSERT_NE(begin, std::string::npos) << advice;
  std::string command =
      json::parse("\"" + advice.substr(begin + 8, advice.find('`', begin + 1) - begin - 8) + "\"");
  Finished shown = in_shell("\"$KFORGE\" " + command);
  EXPECT_EQ(shown.exit_code, 0) << command << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("extern \"C\" void kernel"));
}

TEST_F(TaskByPath, TensorsLargerThanTheMachineHaveAMessageOfTheirOwn) {
  for (const char* command : {"forge", "eval"}) {
    std::vector<std::string> words = {command, task_.string()};
    if (words[0] == "eval") words.insert(words.end(), {"--kernel", (task_ / "task.toml").string()});
    Finished done = kforge_run(words);
    EXPECT_EQ(done.exit_code, 2) << done.out;
    EXPECT_THAT(done.err, HasSubstr("8796 GB"));
    EXPECT_THAT(done.err, HasSubstr("--set NAME=SIZE"));
  }
  EXPECT_EQ(kforge_run({"tasks", "show", task_.string()}).exit_code, 0) << "looking at it needs no memory";
}

TEST_F(TaskByPath, DimensionsCanBeSetOnTheCommandLine) {
  Finished done = kforge_run({"tasks", "show", task_.string(), "--set", "B=32,D=64", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["dims"]["B"], 32);
  ASSERT_TRUE(
      write_file_atomic(folder_.path() / "k.cc",
                        "#include \"task.h\"\nextern \"C\" void kernel(const float* x, float* y) {\n"
                        "  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;\n}\n"));
  done = kforge_run({"eval", task_.string(), "--set", "B=32", "--set", "D=65", "--check", "--kernel",
                     (folder_.path() / "k.cc").string(), "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  json report = json::parse(done.out);
  EXPECT_EQ(report["dims"]["D"], 65);
  Finished again = kforge_run({"recheck", report["id"], "--json"});
  EXPECT_EQ(json::parse(again.out)["again"]["dims"]["D"], 65) << "rechecked in the same sizes";
  EXPECT_THAT(kforge_run({"eval", task_.string(), "--set", "C=3", "-k", "x.cc"}).err,
              HasSubstr("has no dimension C"));
  EXPECT_THAT(kforge_run({"tasks", "show", task_.string(), "--set", "B=x"}).err,
              HasSubstr("'B=x' is no dimension"));
}

TEST_F(TaskByPath, ResultsShowTheKernel) {
  TempDir home = *TempDir::create(0755);
  ASSERT_TRUE(write_file_atomic(folder_.path() / "mine.cc", "int x;\n"));
  kforge_run(
      {"eval", task_.string(), "--shapes", "small", "--kernel", (folder_.path() / "mine.cc").string(), "-q"},
      {.home = home.path()});
  EXPECT_THAT(kforge_run({"results"}, {.home = home.path()}).out, HasSubstr("/mine.cc"));
  json list = json::parse(kforge_run({"results", "--json"}, {.home = home.path()}).out);
  EXPECT_EQ(list["results"][0]["kernel"]["path"], (folder_.path() / "mine.cc").string());
}

// Every line of every list in 80 columns; what a pipe gets has a row in a line.
TEST(Newcomer, ListsFitTheTerminal) {
  for (const char* width : {"80", "40"})
    for (const std::vector<std::string>& words : {std::vector<std::string>{"tasks"},
                                                  {"tasks", "show", "core/softmax"},
                                                  {"platforms"},
                                                  {"results"},
                                                  {"runs"},
                                                  {"machine"},
                                                  {"doctor"},
                                                  {"clean", "--dry-run"}}) {
      if (words[0] == "tasks" && words.size() > 1) continue;  // the graph and task.h are code
      Finished done = kforge_run(words, {.env = {{"COLUMNS", width}}});
      std::istringstream lines(done.out);
      for (std::string line; std::getline(lines, line);) {
        std::size_t first = line.find_first_not_of(' ');
        bool one_word = first == std::string::npos || line.find(' ', first) == std::string::npos;
        EXPECT_TRUE(line.size() <= std::stoul(width) || one_word || std::stoul(width) < 80)
            << words[0] << ": " << line;
      }
    }
  Finished piped = kforge_run({"tasks", "core"});
  EXPECT_THAT(piped.out, testing::ContainsRegex("core/softmax  .*MB"));
}

TEST(Newcomer, ErrorsFitTheTerminal) {
  Finished done = kforge_run({"eval", "core/softmaxx", "--kernel", "k.cc"}, {.env = {{"COLUMNS", "60"}}});
  std::istringstream lines(done.err);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60u) << line;
}

TEST(Newcomer, CleanGivesSpaceBackAndKeepsResults) {
  TempDir home = *TempDir::create(0755);
  RunOptions own{.home = home.path()};
  kforge_run({"eval", "platforms/cpu/example", "--shapes", "small", "--check", "--kernel",
              "platforms/cpu/example/kernel.cc", "-q"},
             own);
  json before = json::parse(kforge_run({"clean", "--dry-run", "--json"}, own).out);
  EXPECT_GT(before["bytes"], 0);
  json done = json::parse(kforge_run({"clean", "--json"}, own).out);
  EXPECT_EQ(done["bytes"], before["bytes"]);
  EXPECT_EQ(json::parse(kforge_run({"clean", "--json"}, own).out)["bytes"], 0);
  EXPECT_EQ(json::parse(kforge_run({"results", "--json"}, own).out)["results"].size(), 1u);
  kforge_run({"clean", "--results"}, own);
  EXPECT_TRUE(json::parse(kforge_run({"results", "--json"}, own).out)["results"].empty());
}

TEST(Newcomer, CleanWaitsForWhoeverJudges) {
  TempDir home = *TempDir::create(0755);
  fs::create_directories(home.path() / "locks");
  auto judging = FileLock::take(home.path() / "locks" / "in-use", true);
  ASSERT_TRUE(judging && *judging);
  Finished done = kforge_run({"clean"}, {.home = home.path()});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("another process of KForge is at work"));
}

TEST(Newcomer, DoctorNamesWhatIsMissingAndHowToGetIt) {
  Finished done = kforge_run({"doctor"});
  EXPECT_EQ(done.exit_code, 0) << done.out;
  EXPECT_THAT(done.out, HasSubstr("KForge works here"));
  TempDir bin = *TempDir::create(0755);
  Finished bare = kforge_run({"doctor", "--json"}, {.env = {{"PATH", bin.path().string()}}});
  EXPECT_EQ(bare.exit_code, 1) << bare.out;
  json report = json::parse(bare.out);
  EXPECT_EQ(report["usable"], false);
  bool found = false;
  for (const json& finding : report["findings"])
    if (finding["name"] == "g++")
      found = finding["there"] == false && finding["remedy"] == "apt-get install g++";
  EXPECT_TRUE(found) << report.dump(1);
}

// Two kernels of one task, one of them wasteful.
TEST(Newcomer, CompareTimesBothInTurnsAndShowsTheDifference) {
  TempDir folder = *TempDir::create(0755);
  RunOptions own{.home = folder.path() / "home"};
  fs::create_directories(own.home);
  std::vector<std::string> ids;
  for (const char* repeats : {"1", "20000"}) {
    fs::path kernel = folder.path() / (std::string("k") + repeats + ".cc");
    ASSERT_TRUE(write_file_atomic(
        kernel, std::string("#include \"task.h\"\nextern \"C\" void kernel(const float* x, float* y) {\n"
                            "  for (int r = 0; r < ") +
                    repeats +
                    "; ++r) {\n    for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;\n"
                    "    asm volatile(\"\" ::: \"memory\");\n  }\n}\n"));
    Finished done = kforge_run({"eval", "core/relu", "--shapes", "small", "--baseline", "none", "--rounds",
                                "5", "--kernel", kernel.string(), "--json"},
                               own);
    ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
    ids.push_back(json::parse(done.out)["id"]);
  }
  Finished done = kforge_run({"compare", ids[0], ids[1], "--seconds", "1", "--json"}, own);
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  json report = json::parse(done.out);
  EXPECT_EQ(report["schema"], "kforge.compare/1");
  EXPECT_EQ(report["a"]["outcome"], "passed");
  ASSERT_TRUE(report["ratio"].is_object()) << report["not_timed"];
  EXPECT_GT(report["ratio"]["value"], 2) << "twenty thousand times the work";
  EXPECT_THAT(report["diff"].get<std::string>(), HasSubstr("r < 20000"));
  EXPECT_THAT(report["diff"].get<std::string>(), HasSubstr("--- a/k1.cc\n+++ b/k20000.cc\n"));
  EXPECT_THAT(report["diff"].get<std::string>(), HasSubstr("\n #include")) << "what both have is context";
  EXPECT_EQ(report["same_program"], false);
  Finished text = kforge_run({"compare", ids[0], ids[0], "--no-time"}, own);
  EXPECT_THAT(text.out, HasSubstr("the sources are the same"));
  EXPECT_THAT(text.out, HasSubstr("not timed: it was not asked for"));
  EXPECT_THAT(kforge_run({"compare", ids[0], "nothing"}, own).err, HasSubstr("no result \"nothing\""));
  Finished hashes = kforge_run(
      {"compare", report["a"]["kernel"]["hash"], report["b"]["kernel"]["hash"], "--no-time", "--json"}, own);
  EXPECT_EQ(json::parse(hashes.out)["a"]["result"], ids[0]) << "a kernel by the hash of its files";
  EXPECT_EQ(json::parse(hashes.out)["diff"], report["diff"]);
}

}  // namespace
}  // namespace kforge

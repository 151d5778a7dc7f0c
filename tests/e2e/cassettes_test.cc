// Conversations with a language model that were recorded (docs/evidence.md), given to the program again.
// Figures of speed differ from machine to machine and from hour to hour; what must come out again is that
// every reply is taken and every program is judged right or wrong as it was.
#include <nlohmann/json.hpp>

#include "cli/kforge_run.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

const fs::path kCassettes = kRoot / "tests/e2e/cassettes";

// The recorded programs rely on the lengths of rows they were written for, so rows keep their length and
// there are few of them: seconds instead of minutes.
fs::path short_task(const fs::path& folder, const std::string& name, const std::string& bench) {
  fs::path source = kRoot / "tasks" / name, task = folder / fs::path(name).filename();
  fs::create_directories(task);
  EXPECT_TRUE(write_file_atomic(task / "graph.onnx.txt", read_file(source / "graph.onnx.txt").value()));
  std::string text = read_file(source / "task.toml").value();
  std::size_t at = text.find("bench = "), end = text.find('\n', at);
  EXPECT_NE(at, std::string::npos) << text;
  EXPECT_TRUE(write_file_atomic(task / "task.toml", text.replace(at, end - at, "bench = " + bench)));
  return task;
}

json replay(const std::string& cassette, const std::string& task, const std::string& bench) {
  TempDir folder = TempDir::create().value();
  Finished done = kforge_run({"forge",      short_task(folder.path(), task, bench).string(),
                              "-g",         "replay:" + (kCassettes / cassette).string(),
                              "--attempts", "4",
                              "--patience", "9",
                              "--baseline", "none",
                              "--cache",    "warm",
                              "--rounds",   "3",
                              "--seconds",  "0.05",
                              "--without",  "profile,assembly,advice",
                              "--out",      (folder.path() / "out").string(),
                              "--json"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  json report = json::parse(done.out, nullptr, false);
  EXPECT_FALSE(report.is_discarded()) << done.out << done.err;
  return report;
}

// Attempts by outcome, as recorded: all of these four were right.
void expect_four_right(const json& report) {
  ASSERT_TRUE(report.contains("attempts")) << report.dump();
  ASSERT_EQ(report["attempts"].size(), 4u) << report.dump(1);
  for (const json& attempt : report["attempts"]) EXPECT_EQ(attempt["outcome"], "passed") << attempt.dump(1);
  EXPECT_EQ(report["best"]["outcome"], "passed");
}

TEST(Cassettes, RecordedProgramsAreJudgedAsTheyWere) {
  expect_four_right(replay("full/softmax.jsonl", "core/softmax", "{ B = 6, D = 8192 }"));
}

TEST(Cassettes, OtherPromptsAreReportedAndNotFatal) {
  json report = replay("noexample/layer_norm.jsonl", "core/layer_norm", "{ B = 24, D = 1024 }");
  expect_four_right(report);
  std::string notes = report["notes"].dump();
  EXPECT_THAT(notes, HasSubstr("4 of 4 replies of the cassette were recorded for other prompts"));
}

// Whoever takes a cassette along takes nothing of the machine it was recorded on.
TEST(Cassettes, NameNoFolder) {
  int cassettes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kCassettes)) {
    if (entry.path().extension() != ".jsonl") continue;
    ++cassettes;
    std::string text = read_file(entry.path(), 1 << 20).value();
    for (const char* place : {"/home/", "/root/", "/tmp/", "/work/", "/mnt/", "/Users/"})
      EXPECT_EQ(text.find(place), std::string::npos) << entry.path() << " names a place below " << place;
  }
  EXPECT_GE(cassettes, 20);
}

}  // namespace
}  // namespace kforge

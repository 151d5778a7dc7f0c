// The commands that only look: tasks, platforms, machine, results.
#include <nlohmann/json.hpp>

#include "cli/kforge_run.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json json_of(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
  Finished done = kforge_run(arguments, options);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  return json::parse(done.out, nullptr, false);
}

TEST(Tasks, ListHasEverySuiteWithFigures) {
  json list = json_of({"tasks", "--json"});
  ASSERT_EQ(list["schema"], "kforge.tasks/1");
  EXPECT_GE(list["tasks"].size(), 120u);
  for (const json& task : list["tasks"]) {
    EXPECT_GT(task["bytes"], 0) << task["name"];
    EXPECT_TRUE(task["shape_sets"].contains("small")) << task["name"];
  }
}

TEST(Tasks, ListOfOneSuiteHoldsOnlyThat) {
  Finished done = kforge_run({"tasks", "llm"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("llm/"));
  EXPECT_THAT(done.out, testing::Not(HasSubstr("core/")));
}

TEST(Tasks, ShowPrintsGraphAndHeader) {
  Finished done = kforge_run({"tasks", "show", "platforms/cpu/example"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("RMSNormalization"));
  EXPECT_THAT(done.out, HasSubstr("extern \"C\" void"));
  EXPECT_THAT(done.out, HasSubstr("D = 4096"));
}

TEST(Tasks, ShowKnowsOtherShapeSets) {
  EXPECT_THAT(kforge_run({"tasks", "show", "platforms/cpu/example", "--shapes", "odd"}).out,
              HasSubstr("D = 61"));
  EXPECT_EQ(json_of({"tasks", "show", "platforms/cpu/example", "--shapes", "odd", "--json"})["dims"]["D"],
            61);
}

TEST(Tasks, CheckSaysThatNullCandidatesFail) {
  json check = json_of({"tasks", "check", "platforms/cpu/example", "--json"});
  ASSERT_EQ(check["tasks"].size(), 1u);
  EXPECT_EQ(check["tasks"][0]["state"], "good");
  EXPECT_EQ(check["bad"], 0);
}

TEST(Platforms, CpuIsReady) {
  json list = json_of({"platforms", "--json"});
  bool found = false;
  for (const json& platform : list["platforms"])
    if (platform["name"] == "cpu") found = platform["state"] == "ready";
  EXPECT_TRUE(found) << list;
}

TEST(Machine, HasPeaksAndFeatures) {
  json machine = json_of({"machine", "--json"});
  EXPECT_GT(machine["peaks"]["fp32_gflops"], 0);
  EXPECT_FALSE(machine["peaks"]["bandwidths"].empty());
  EXPECT_FALSE(machine["cpus"].empty());
  EXPECT_EQ(kforge_run({"machine"}).exit_code, 0);
}

TEST(Results, EmptyStoreSaysHowToFillIt) {
  TempDir home = *TempDir::create();
  Finished done = kforge_run({"results"}, {.home = home.path()});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.out, HasSubstr("kforge eval"));
  EXPECT_TRUE(json_of({"results", "--json"}, {.home = home.path()})["results"].empty());
}

}  // namespace
}  // namespace kforge

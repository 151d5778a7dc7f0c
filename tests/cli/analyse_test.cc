// kforge analyse: profiles made elsewhere, as their tools write them, and what becomes of them.
#include <nlohmann/json.hpp>

#include "cli/kforge_run.h"
#include "e2e/model_server.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kNcu = R"csv(==PROF== Connected to process 1
"ID","Process ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","1","softmax(float*)","GPU Speed Of Light Throughput","Memory Throughput","%","91.2"
"0","1","softmax(float*)","GPU Speed Of Light Throughput","Compute (SM) Throughput","%","21.5"
"0","1","softmax(float*)","GPU Speed Of Light Throughput","Duration","usecond","1,234.5"
"0","1","softmax(float*)","Occupancy","Achieved Occupancy","%","88.0"
)csv";
constexpr const char* kNsys = R"csv(Processing [x.sqlite] with [cuda_gpu_kern_sum.py]...
"Time (%)","Total Time (ns)","Instances","Avg (ns)","Name"
"75.0","300000","300","1000.0","gemm"
"25.0","100000","100","1000.0","relu, fused"

Processing [x.sqlite] with [cuda_gpu_mem_time_sum.py]...
"Time (%)","Total Time (ns)","Count","Avg (ns)","Operation"
"100.0","4000000","2","2000000.0","[CUDA memcpy HtoD]"
)csv";
constexpr const char* kRocprof =
    "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"k.kd\",1000,5000000,5000,100.0\n";

class Analyse : public testing::Test {
 protected:
  fs::path file(const std::string& name, const std::string& content) {
    fs::path path = folder_.path() / name;
    EXPECT_TRUE(write_file_atomic(path, content));
    return path;
  }
  // The document; the run must have succeeded.
  json advice_on(const fs::path& profile, std::vector<std::string> further = {},
                 std::map<std::string, std::string> env = {}) {
    std::vector<std::string> words = {"analyse", "--profile", profile.string(), "--json"};
    words.insert(words.end(), further.begin(), further.end());
    Finished done = kforge_run(words, {.home = shared_home(), .cwd = kRoot, .env = std::move(env)});
    EXPECT_EQ(done.exit_code, 0) << done.err << done.out;
    json document = json::parse(done.out, nullptr, false);
    EXPECT_EQ(document.value("schema", ""), "kforge.analyse/1") << done.out;
    return document;
  }
  static double fact(const json& document, const std::string& name) {
    for (const json& fact : document["facts"])
      if (fact["name"] == name) return fact["value"];
    ADD_FAILURE() << "no fact " << name << " in " << document.dump();
    return -1;
  }
  static void expect_advice(const json& document) {
    const json& advice = document["advice"];
    for (const char* key : {"bottleneck", "evidence", "change", "tag", "by"})
      EXPECT_FALSE(advice[key].get<std::string>().empty()) << key;
    EXPECT_GE(advice["expected_gain"], 1.0);
    EXPECT_EQ(advice["by"], "rules");
    EXPECT_EQ(document["cost"]["calls"], 0);
  }

  TempDir folder_ = TempDir::create().value();
};

TEST_F(Analyse, TheVendorsTablesGiveFactsAndOneAdvice) {
  json ncu = advice_on(file("ncu.csv", kNcu));
  expect_advice(ncu);
  EXPECT_EQ(fact(ncu, "device_memory_throughput"), 91.2);
  EXPECT_THAT(ncu["advice"]["bottleneck"].get<std::string>(), HasSubstr("memory"));
  json nsys = advice_on(file("nsys.csv", kNsys));
  expect_advice(nsys);
  EXPECT_GT(fact(nsys, "device_copy_share"), 90);
  json rocprof = advice_on(file("rocprof.csv", kRocprof));
  expect_advice(rocprof);
  EXPECT_EQ(fact(rocprof, "device_kernel_us"), 5);
}

TEST_F(Analyse, PeopleGetTheSameInWords) {
  Finished done = kforge_run({"analyse", "--profile", file("ncu.csv", kNcu).string()});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  for (const char* label : {"bottleneck", "evidence", "change", "expected", "kind"})
    EXPECT_THAT(done.out, HasSubstr(label));
  EXPECT_THAT(done.out, HasSubstr("advised by rules"));
}

TEST_F(Analyse, AScreenshotGoesToAModelThatTakesImages) {
  std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
  fs::path shot = file("timeline.png", png);
  ModelServer server;
  server.script("analyst",
                {say(R"({"bottleneck": "gaps between kernels", "evidence": "white bands", )"
                     R"("change": "fuse the two kernels", "expected_gain": 1.5, "confidence": 0.7, )"
                     R"("tag": "fuse"})")});
  json document = advice_on(shot, {"--analyst", server.openai("analyst"), "--task", "softmax"},
                            {{"KFORGE_API_KEY", "sk-test-0123456789abcdef"}});
  EXPECT_EQ(document["advice"]["change"], "fuse the two kernels");
  EXPECT_THAT(document["advice"]["by"].get<std::string>(), HasSubstr("analyst"));
  EXPECT_EQ(document["cost"]["calls"], 1);
  EXPECT_THAT(document.dump(), Not(HasSubstr("sk-test")));
  auto calls = server.calls();
  ASSERT_EQ(calls.size(), 1u);
  ASSERT_EQ(calls[0].turns.at(0).images.size(), 1u);
  EXPECT_EQ(calls[0].turns[0].images[0], png) << "the picture itself, not its name";
  EXPECT_EQ(calls[0].turns[0].media_types[0], "image/png");
  EXPECT_THAT(calls[0].text(), HasSubstr("timeline.png"));

  Finished rules = kforge_run({"analyse", "--profile", shot.string()});
  EXPECT_EQ(rules.exit_code, 2);
  EXPECT_THAT(rules.err, HasSubstr("reads figures, not pictures"));
}

TEST_F(Analyse, AModelThatGivesNoAdviceIsReplacedByTheRules) {
  ModelServer server;
  server.script("analyst", {say("I would think about it."), say("Really.")});
  json document = advice_on(file("ncu.csv", kNcu), {"--analyst", server.openai("analyst")});
  EXPECT_EQ(document["advice"]["by"], "rules");
  EXPECT_THAT(document["fallback"].get<std::string>(), HasSubstr("no usable recommendation"));
  EXPECT_EQ(document["cost"]["calls"], 2) << "asked once more, and paid for";
}

TEST_F(Analyse, MistakesAreNamed) {
  Finished unknown = kforge_run({"analyse", "--profile", file("x.csv", "a,b\n1,2\n").string(), "--json"});
  EXPECT_EQ(unknown.exit_code, 2);
  json document = json::parse(unknown.out, nullptr, false);
  EXPECT_EQ(document["schema"], "kforge.error/1") << unknown.out;
  EXPECT_THAT(document["remedy"].get<std::string>(), HasSubstr("nsys stats"));
  Finished absent = kforge_run({"analyse", "--profile", (folder_.path() / "none.csv").string()});
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.err, HasSubstr("none.csv"));
  Finished broken = kforge_run(
      {"analyse", "--profile", file("ncu.csv", "\"Metric Name\",\"Metric Value\"\n\"x\",\"y\"\n").string()});
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err, HasSubstr("looks like a profile of ncu"));
}

}  // namespace
}  // namespace kforge

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "store/eval_report.h"
#include "store/sample_report.h"

namespace kforge {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(EvalJson, HasEveryPromisedKeyOfAPassedKernel) {
  json document = json::parse(to_json(passed_report()));
  EXPECT_EQ(document["schema"], "kforge.eval/1");
  EXPECT_EQ(document["outcome"], "passed");
  EXPECT_EQ(document["time_ns"]["median"], 3.42e6);
  EXPECT_EQ(document["baselines"][0]["name"], "onednn");
  EXPECT_EQ(document["baselines"][0]["time_ns"]["median"], 6.26e6);
  EXPECT_EQ(document["speedup"]["against"], "onednn");
  EXPECT_EQ(document["speedup"]["lo"], 1.80);
  EXPECT_EQ(document["error"]["bound"], 5e-6);
  EXPECT_EQ(document["roofline"]["bound"], "memory");
  EXPECT_EQ(document["dims"]["B"], 4096);
  for (const char* key : {"gate", "reason", "precision", "cache", "threads", "general", "sandbox", "machine"})
    EXPECT_TRUE(document.contains(key)) << key;
  EXPECT_TRUE(document["gate"].is_null());
}

TEST(EvalJson, ARivalsVersionAndAgeAreKept) {
  EvalReport report = passed_report();
  report.baselines[1].release = {"1.13.0", "2022-10", true};
  json document = json::parse(to_json(report));
  EXPECT_EQ(document["baselines"][1]["version"], "1.13.0");
  EXPECT_EQ(document["baselines"][1]["old"], true);
  EXPECT_EQ(document["baselines"][0]["old"], false);
  auto again = eval_report_from_json(document.dump());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->baselines[1].release.released, "2022-10");
  EXPECT_TRUE(again->baselines[1].release.old);
}

TEST(EvalJson, EvidenceIsJsonNotText) {
  json document = json::parse(to_json(refused_report()));
  EXPECT_EQ(document["gate"], "accuracy");
  EXPECT_EQ(document["evidence"]["first_wrong"][1], 3);
  EXPECT_TRUE(document["time_ns"].is_null());
  EXPECT_TRUE(document["speedup"].is_null());
}

TEST(EvalJson, AModelledFigureIsNoTime) {
  json document = json::parse(to_json(modelled_report()));
  EXPECT_EQ(document["modelled"]["ns"], 7.5e5);
  EXPECT_EQ(document["modelled"]["model"], "cycles 2");
  EXPECT_TRUE(document["time_ns"].is_null());
  EXPECT_TRUE(document["speedup"].is_null());
  EXPECT_TRUE(json::parse(to_json(passed_report()))["modelled"].is_null());
}

TEST(EvalJson, ReadsBackWhatItWrote) {
  for (const EvalReport& report : {passed_report(), modelled_report(), refused_report(), EvalReport{}}) {
    std::string text = to_json(report, true);
    auto back = eval_report_from_json(text);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(to_json(*back, true), text);
  }
  auto back = eval_report_from_json(to_json(passed_report()));
  EXPECT_EQ(back->seeds[0].seed, 0xfedcba9876543210ull);
  EXPECT_EQ(back->gates[3].state, GateState::kFlagged);
  EXPECT_EQ(back->gates[3].evidence, passed_report().gates[3].evidence);
}

TEST(EvalJson, AWordThatIsNotKnownIsAnErrorThatNamesItsField) {
  for (std::string key : {"outcome", "gate"}) {
    json document = json::parse(to_json(refused_report()));
    document[key] = "splendid";
    auto back = eval_report_from_json(document.dump());
    ASSERT_FALSE(back) << key;
    EXPECT_THAT(back.error().text(), HasSubstr(key + " is missing or not a word"));
  }
  json document = json::parse(to_json(refused_report()));
  document["gates"][0]["name"] = "pearly";
  EXPECT_THAT(eval_report_from_json(document.dump()).error().text(), HasSubstr("gates.name"));
}

TEST(EvalJson, SamplesOnlyOnRequest) {
  EXPECT_FALSE(json::parse(to_json(passed_report())).contains("samples"));
  EXPECT_EQ(json::parse(to_json(passed_report(), true))["samples"][0]["ns_per_call"].size(), 2u);
}

TEST(EvalJson, BytesThatAreNoUtf8AreReplaced) {
  EvalReport report = refused_report();
  report.reason = "error: stray '\xff\xfe' in program";
  EXPECT_THAT(json::parse(to_json(report))["reason"].get<std::string>(), HasSubstr("stray"));
}

TEST(EvalJson, NamesTheFieldThatIsWrong) {
  json document = json::parse(to_json(passed_report()));
  document["speedup"].erase("against");
  auto back = eval_report_from_json(document.dump());
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().message, HasSubstr("speedup.against"));
}

TEST(EvalJson, RefusesForeignDocuments) {
  for (const char* text :
       {"", "no json", "[]", "3", "{}", R"({"schema":"other/1"})", R"({"schema":7})",
        R"({"schema":"kforge.eval/1","baselines":3})", R"({"schema":"kforge.eval/1","gates":[1]})"})
    EXPECT_FALSE(eval_report_from_json(text)) << text;
}

}  // namespace
}  // namespace kforge

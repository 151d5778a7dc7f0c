#include "store/evidence_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kforge {
namespace {

TEST(EvidenceJson, ReadsBackWhatItWrote) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Evidence all[] = {
      {},
      ComparedOutput{.output = "y",
                     .inputs = "heavy_tail",
                     .elements = 64,
                     .wrong = 8,
                     .wrong_nonfinite = 1,
                     .worst = {{{3, 7}, 2.5, 1.25, 1.25, 1e-6}, {{3, 6}, -infinity, 1, infinity, 1e-6}},
                     .first_wrong = {3, 0},
                     .pattern = "last row",
                     .error_by_region = {0, 0.5},
                     .max_abs = infinity,
                     .rel_norm = 0.25,
                     .yardstick_worst_abs = 1e-7},
      Figures{{{"count", std::int64_t{3}},
               {"share", 0.5},
               {"argument", "y"},
               {"imports", std::vector<std::string>{"system", "fork"}}}}};
  for (const Evidence& evidence : all) EXPECT_EQ(evidence_from_text(evidence_text(evidence)), evidence);
  EXPECT_EQ(evidence_text({}), "");
}

TEST(EvidenceJson, NotANumberIsText) {
  const Evidence evidence = ComparedOutput{.worst = {{{0}, std::nan(""), 1, std::nan(""), 1e-6}}};
  EXPECT_NE(evidence_text(evidence).find(R"("got":"nan")"), std::string::npos);
  auto back = std::get<ComparedOutput>(evidence_from_text(evidence_text(evidence)));
  EXPECT_TRUE(std::isnan(back.worst.at(0).got));
  EXPECT_EQ(back.worst.at(0).want, 1);
}

TEST(EvidenceJson, DamagedTextLeavesNothingOrLess) {
  for (const char* text : {"", "{", "[]", "null", "7", "free text"})
    EXPECT_TRUE(is_empty(evidence_from_text(text))) << text;
  auto compared = std::get<ComparedOutput>(
      evidence_from_text(R"({"worst":[7,null,{"index":{},"got":[]}],"wrong":"many"})"));
  EXPECT_EQ(compared.worst.size(), 1u);
  EXPECT_EQ(compared.wrong, 0);
  EXPECT_EQ(evidence_from_text(R"({"worst":7})"), Evidence(Figures{{{"worst", std::int64_t{7}}}}));
}

TEST(EvidenceJson, BytesThatAreNoTextAreReplaced) {
  EXPECT_NE(evidence_text(Figures{{{"text", "not \xff utf8"}}}).find("utf8"), std::string::npos);
}

}  // namespace
}  // namespace kforge

#include "device/plan_expr.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kforge {
namespace {

using testing::HasSubstr;

const PlanSymbols kSymbols = {{"B", 7}, {"D", 61}, {"TILE", 16}};

std::int64_t value(std::string_view text) { return evaluate_plan_expr(text, kSymbols).value(); }
std::string mistake_in(std::string_view text) {
  auto found = evaluate_plan_expr(text, kSymbols);
  return found ? "none" : found.error();
}

TEST(PlanExpr, Computes) {
  EXPECT_EQ(value("B"), 7);
  EXPECT_EQ(value(" 4*256 "), 1024);
  EXPECT_EQ(value("B + D * 2 - 1"), 128);
  EXPECT_EQ(value("(B + D) * 2"), 136);
  EXPECT_EQ(value("D / TILE"), 3);
  EXPECT_EQ(value("D % TILE"), 13);
  EXPECT_EQ(value("ceildiv(D, TILE)"), 4);
  EXPECT_EQ(value("ceildiv(64, TILE)"), 4);
  EXPECT_EQ(value("min(B, max(3, D))"), 7);
  EXPECT_EQ(value("-B + 8"), 1);
  EXPECT_EQ(value("8 - 3 - 2"), 3);
}

TEST(PlanExpr, SaysWhatIsWrong) {
  EXPECT_THAT(mistake_in("TIL"), HasSubstr("unknown symbol 'TIL' (did you mean 'TILE'?)"));
  EXPECT_THAT(mistake_in("B / 0"), HasSubstr("divides by zero"));
  EXPECT_THAT(mistake_in("B % (B - 7)"), HasSubstr("divides by zero"));
  EXPECT_THAT(mistake_in("ceildiv(B, 0)"), HasSubstr("divides by zero"));
  EXPECT_THAT(mistake_in("9223372036854775807 + B"), HasSubstr("larger than 64 bits"));
  EXPECT_THAT(mistake_in("9223372036854775807 * 2"), HasSubstr("larger than 64 bits"));
  EXPECT_THAT(mistake_in("99999999999999999999"), HasSubstr("larger than 64 bits"));
  EXPECT_THAT(mistake_in("(B"), HasSubstr("')' is missing"));
  EXPECT_THAT(mistake_in("B B"), HasSubstr("'B' is not understood"));
  EXPECT_THAT(mistake_in("B +"), HasSubstr("ends too early"));
  EXPECT_THAT(mistake_in(""), HasSubstr("ends too early"));
  EXPECT_THAT(mistake_in("system(1, 2)"), HasSubstr("there is no function 'system'"));
  EXPECT_THAT(mistake_in("B; rm"), HasSubstr("not understood"));
}

TEST(PlanExpr, HostileTextEndsSoon) {
  EXPECT_THAT(mistake_in(std::string(500, '(')), HasSubstr("too deep"));
  EXPECT_THAT(mistake_in(std::string(500, '-')), HasSubstr("too deep"));
  EXPECT_THAT(mistake_in(std::string(100'000, '1')), HasSubstr("at most 1000 characters"));
}

}  // namespace
}  // namespace kforge

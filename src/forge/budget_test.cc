#include "forge/budget.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(Budget, ReadsEveryUnitInAnyOrder) {
  auto budget = parse_budget("200ktok, 60s,2.5usd");
  ASSERT_TRUE(budget) << budget.error().text();
  EXPECT_EQ(budget->seconds, 60);
  EXPECT_EQ(budget->tokens, 200'000);
  EXPECT_EQ(budget->dollars, 2.5);
  EXPECT_FALSE(budget->attempts);
  EXPECT_EQ(parse_budget("5m")->seconds, 300);
  EXPECT_EQ(parse_budget("1h")->seconds, 3600);
  EXPECT_EQ(parse_budget("90")->seconds, 90);
  EXPECT_EQ(parse_budget("$3")->dollars, 3);
  EXPECT_EQ(parse_budget("1.5mtok")->tokens, 1'500'000);
  EXPECT_EQ(parse_budget("7 attempts")->attempts, 7);
}

TEST(Budget, RefusesWhatItDoesNotUnderstandByName) {
  for (const char* bad :
       {"", "60x", "s", "-5s", "2eur", "60s,,", "nan", "inf", "1e300s", "$2usd", "60 s s"}) {
    auto budget = parse_budget(bad);
    ASSERT_FALSE(budget) << bad;
    EXPECT_NE(budget.error().remedy.find("60s,2usd"), std::string::npos);
  }
  EXPECT_NE(parse_budget("60s,2eur").error().message.find("2eur"), std::string::npos);
}

TEST(Budget, TextComesBack) {
  auto budget = *parse_budget("3 attempts,60s,2usd,500tok");
  auto again = *parse_budget(to_text(budget));
  EXPECT_EQ(again.attempts, budget.attempts);
  EXPECT_EQ(again.seconds, budget.seconds);
  EXPECT_EQ(again.dollars, budget.dollars);
  EXPECT_EQ(again.tokens, budget.tokens);
}

TEST(Budget, FirstLimitReachedEndsIt) {
  Budget budget = *parse_budget("10s,1usd");
  EXPECT_FALSE(used_up(budget, {}));
  EXPECT_EQ(used_up(budget, {.seconds = 10}), Ending::kSeconds);
  EXPECT_EQ(used_up(budget, {.dollars = 1.5}), Ending::kDollars);
  EXPECT_FALSE(used_up(budget, {.tokens = 1'000'000'000})) << "tokens were not limited";
  EXPECT_EQ(used_up(Budget{.attempts = 0}, {}), Ending::kAttempts);
}

TEST(Factor, WithAndWithoutX) {
  EXPECT_EQ(*parse_factor("2.5x"), 2.5);
  EXPECT_EQ(*parse_factor("2"), 2);
  for (const char* bad : {"", "x", "-1x", "0x", "2xx", "two"}) EXPECT_FALSE(parse_factor(bad)) << bad;
}

}  // namespace
}  // namespace kforge

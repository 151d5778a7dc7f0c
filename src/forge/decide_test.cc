#include <gtest/gtest.h>

#include "forge/judge_attempt.h"
#include "generate/sample_attempt.h"

namespace kforge {
namespace {

TEST(Decide, OnlyWhatIsFasterByItsWholeIntervalIsTaken) {
  Attempt best{.number = 3};
  judged(best, Outcome::kPassed);
  AttemptJudgement found;
  EXPECT_TRUE(decide(found, nullptr, nullptr).accepted) << "the first verified program";
  found.over_best = found.over_rival = Speedup{1.2, 0.99, 1.4, "attempt 3"};
  EXPECT_FALSE(decide(found, &best, &best).accepted);
  EXPECT_FALSE(decide(found, &best, &best).better);
  found.over_rival->lo = 1.01;  // beats the one it had to, not the best of the run
  EXPECT_TRUE(decide(found, &best, &best).better);
  EXPECT_FALSE(decide(found, &best, &best).accepted);
  found.over_best->lo = 1.01;
  EXPECT_TRUE(decide(found, &best, &best).accepted);
  for (Outcome outcome : {Outcome::kSlower, Outcome::kWrongValue, Outcome::kRejected}) {
    found.outcome = outcome;
    EXPECT_FALSE(decide(found, &best, &best).better || decide(found, &best, &best).accepted);
  }
}

TEST(Decide, WhereNothingIsTimedTheModelDecides) {
  Attempt best{.number = 1};
  judged(best, Outcome::kPassed).modelled_ns = 1000;
  AttemptJudgement found{.modelled_ns = 900};
  EXPECT_TRUE(decide(found, &best, &best).accepted);
  found.modelled_ns = 999.9;
  EXPECT_FALSE(decide(found, &best, &best).accepted) << "the model is not that exact";
}

}  // namespace
}  // namespace kforge

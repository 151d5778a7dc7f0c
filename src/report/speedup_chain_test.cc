#include "report/speedup_chain.h"

#include <gtest/gtest.h>

#include "generate/sample_attempt.h"

namespace kforge {
namespace {

// Verified; accepted where `over_best` is given or it is the first.
Attempt step(int number, std::optional<Speedup> over_best, bool accepted = true) {
  Attempt attempt{.number = number};
  judged(attempt, Outcome::kPassed).over_best = over_best;
  attempt.judgement->speedup = Speedup{0.3, 0.2, 0.4, "onednn"};  // noise of another moment
  attempt.decision->accepted = accepted;
  return attempt;
}

TEST(SpeedupChain, RisesWithEveryAcceptedStepAndEndsAtTheConfirmedFigure) {
  std::vector<Attempt> attempts = {step(1, {}), step(2, Speedup{0.9, 0.8, 1.0, ""}, false),
                                   step(3, Speedup{1.5, 1.4, 1.6, ""}), step(4, Speedup{2, 1.9, 2.1, ""})};
  auto chain = speedup_chain(attempts, 4, Speedup{1.2, 1.1, 1.3, "onednn"});
  ASSERT_EQ(chain.size(), 3u);
  EXPECT_EQ(chain[0].attempt, 1);
  EXPECT_NEAR(chain[0].speedup.value, 0.4, 1e-9);
  EXPECT_NEAR(chain[1].speedup.value, 0.6, 1e-9);
  EXPECT_EQ(chain[2].speedup.value, 1.2);
  EXPECT_NEAR(chain[2].speedup.lo, 1.1, 1e-9);
  EXPECT_NEAR(chain[2].speedup.hi, 1.3, 1e-9);
  double width = 0;
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    EXPECT_LT(it->speedup.lo, it->speedup.value);
    EXPECT_GT(it->speedup.hi, it->speedup.value);
    double wider = it->speedup.hi / it->speedup.lo;
    EXPECT_GT(wider, width) << "what lies further from the confirmed figure is less sure";
    width = wider;
  }
}

TEST(SpeedupChain, WithoutABaselineTheFirstIsTheMeasure) {
  auto chain = speedup_chain({step(1, {}), step(3, Speedup{1.5, 1.4, 1.6, ""})}, 3, {});
  ASSERT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain[0].speedup.value, 1);
  EXPECT_NEAR(chain[1].speedup.value, 1.5, 1e-9);
  EXPECT_NEAR(chain[1].speedup.lo, 1.4, 1e-9);
}

TEST(SpeedupChain, AnOverturnedWinnerAndUnknownStepsAreLeftOut) {
  auto overturned = step(4, Speedup{9, 8, 10, ""}, false);
  overturned.judgement->outcome = Outcome::kOverturned;
  auto chain = speedup_chain({step(1, {}), step(2, {}), step(3, Speedup{2, 1.9, 2.1, ""}), overturned}, 3,
                             Speedup{1.2, 1.1, 1.3, "onednn"});
  ASSERT_EQ(chain.size(), 2u) << "how attempt 2 stood to 1 is not known";
  EXPECT_EQ(chain[0].attempt, 2);
  EXPECT_TRUE(speedup_chain({}, 1, {}).empty());
}

}  // namespace
}  // namespace kforge

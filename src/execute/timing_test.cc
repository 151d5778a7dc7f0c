#include "execute/timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kforge {
namespace {

constexpr double kMs = 1e6;

Sample quiet() { return {.ns_per_call = kMs, .parent_ns = kMs}; }
Sample waiting(double ns) { return {.ns_per_call = kMs, .parent_ns = kMs, .team_wait_ns = ns}; }

// Two programs, in whose rounds the second was disturbed where it says so.
std::vector<TimedProgram> programs(const std::vector<bool>& disturbed) {
  std::vector<TimedProgram> both(2);
  for (bool lost : disturbed) {
    both[0].samples.push_back(quiet());
    both[1].samples.push_back(lost ? waiting(kMs / 2) : quiet());
  }
  return both;
}

TEST(Timing, ARoundIsLostWhenAnyThreadWaitedForAProcessor) {
  EXPECT_FALSE(quiet().disturbed());
  EXPECT_FALSE(waiting(0.05 * kMs).disturbed());
  EXPECT_TRUE(waiting(0.2 * kMs).disturbed());
  Sample stolen = quiet();
  stolen.stolen = true;
  EXPECT_TRUE(stolen.disturbed());
}

TEST(Timing, LostRoundsAreLeftOutForEverybody) {
  auto both = programs({false, true, false, false, true, false, false, false});
  const KeptRounds kept = rounds_kept(both);
  EXPECT_THAT(kept.rounds, testing::ElementsAre(0, 2, 3, 5, 6, 7));
  EXPECT_FALSE(kept.disturbed);
  EXPECT_EQ(rounds_disturbed(both), 2);
}

TEST(Timing, TooFewUndisturbedRoundsMakeAllCount) {
  auto both = programs({false, true, true, true, false, false, true, true});
  const KeptRounds kept = rounds_kept(both);
  EXPECT_EQ(kept.rounds.size(), 8u);
  EXPECT_TRUE(kept.disturbed);
}

TEST(Timing, FewRoundsAreNotDisturbedForBeingFew) {
  const KeptRounds kept = rounds_kept(programs({false, false, false}));
  EXPECT_EQ(kept.rounds.size(), 3u);
  EXPECT_FALSE(kept.disturbed);
}

TEST(Timing, RoundsOfAProgramThatFailedDoNotShortenTheOthers) {
  auto both = programs({false, false, false, false, false, false});
  both[1].samples.resize(2);
  both[1].failure = Timeout{"a call", 1};
  EXPECT_EQ(rounds_kept(both).rounds.size(), 6u);
}

}  // namespace
}  // namespace kforge

#include "suite/fast_p.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kforge {
namespace {

Scored fast(double value, double lo, double hi) { return {true, Interval{value, lo, hi}}; }
Scored exactly(double value) { return fast(value, value, value); }
const Scored kWrong = {false, std::nullopt};
const Scored kNotTimed = {true, std::nullopt};

std::vector<int> points(const Score& score) {
  std::vector<int> counts;
  for (const FastP& one : score.fast) counts.push_back(one.by_point);
  return counts;
}
std::vector<int> intervals(const Score& score) {
  std::vector<int> counts;
  for (const FastP& one : score.fast) counts.push_back(one.by_interval);
  return counts;
}

TEST(FastP, CountsByPointAndByInterval) {
  // Five problems: one wrong, one slower, one faster by its point alone, two shown to be.
  std::vector<Scored> problems = {kWrong, fast(0.8, 0.7, 0.9), fast(1.2, 0.9, 1.4), fast(1.6, 1.2, 1.9),
                                  fast(3, 2.5, 3.5)};
  Score score = score_of(problems);
  EXPECT_EQ(score.problems, 5);
  EXPECT_EQ(score.correct, 4);
  EXPECT_EQ(points(score), (std::vector{4, 3, 2, 1}));
  EXPECT_EQ(intervals(score), (std::vector{4, 2, 1, 1}));
  EXPECT_DOUBLE_EQ(score.share(0, false), 0.8);
  EXPECT_DOUBLE_EQ(score.share(1, false), 0.6);
  EXPECT_DOUBLE_EQ(score.share(1, true), 0.4);
  EXPECT_NEAR(*score.geometric_mean, std::pow(0.8 * 1.2 * 1.6 * 3, 0.25), 1e-12);
  EXPECT_DOUBLE_EQ(*score.median, 1.4);
}

TEST(FastP, ATieIsNotFaster) {
  Score score = score_of(std::vector{exactly(1), exactly(1.5), exactly(2)});
  EXPECT_EQ(points(score), (std::vector{3, 2, 1, 0}));
  EXPECT_EQ(intervals(score), (std::vector{3, 2, 1, 0}));
}

TEST(FastP, NoneCorrectHasNoMean) {
  Score score = score_of(std::vector{kWrong, kWrong});
  EXPECT_EQ(score.problems, 2);
  EXPECT_EQ(score.compared, 2);
  EXPECT_EQ(points(score), (std::vector{0, 0, 0, 0}));
  EXPECT_EQ(score.share(1, false), 0);
  EXPECT_FALSE(score.geometric_mean);
  EXPECT_FALSE(score.median);
}

TEST(FastP, NothingAtAllIsNoDivisionByZero) {
  Score score = score_of({});
  EXPECT_EQ(score.share(0, false), 0);
  EXPECT_EQ(score.share(2, true), 0);
}

// The program is right, and there is nothing to compare it with: it must not count as slower.
TEST(FastP, AMissingBaselineLeavesTheProblemOut) {
  Score score = score_of(std::vector{kNotTimed, exactly(1.7), kWrong});
  EXPECT_EQ(score.correct, 2);
  EXPECT_EQ(score.compared, 2);
  EXPECT_EQ(points(score), (std::vector{2, 1, 1, 0}));
  EXPECT_DOUBLE_EQ(score.share(0, false), 2.0 / 3);
  EXPECT_DOUBLE_EQ(score.share(1, false), 0.5);
  EXPECT_DOUBLE_EQ(*score.geometric_mean, 1.7);
}

TEST(FastP, TheCurveAgreesWithTheFigures) {
  std::vector<Scored> problems = {exactly(0.7), exactly(1.2), exactly(2), exactly(3), kWrong, kNotTimed};
  problems[1].speedup->lo = 0.9;
  const Score score = score_of(problems);
  for (bool by_interval : {false, true}) {
    const auto curve = fast_curve(problems, by_interval);
    for (std::size_t which = 1; which < kFastP.size(); ++which) {
      double share = 0;
      for (const FastStep& step : curve)
        if (step.p <= kFastP[which]) share = step.share;
      EXPECT_DOUBLE_EQ(share, score.share(which, by_interval)) << kFastP[which];
    }
  }
  EXPECT_TRUE(fast_curve({}, false).empty());
  EXPECT_TRUE(fast_curve(std::vector{kNotTimed}, false).empty());
}

TEST(FastP, EveryRatioIsInOneBucket) {
  std::vector<Scored> problems = {exactly(0.1),  exactly(0.5), exactly(1),
                                  exactly(1.05), exactly(5),   exactly(80)};
  Score score = score_of(problems);
  int all = 0;
  for (const SpeedupBucket& bucket : score.distribution) all += bucket.problems;
  EXPECT_EQ(all, 6);
  EXPECT_EQ(score.distribution.front().problems, 1);
  EXPECT_EQ(score.distribution.back().problems, 2);
  EXPECT_EQ(bucket_name(score.distribution.front()), "below 0.5");
  EXPECT_EQ(bucket_name(score.distribution[1]), "0.5 to 0.8");
  EXPECT_EQ(bucket_name(score.distribution.back()), "5 and more");
}

}  // namespace
}  // namespace kforge

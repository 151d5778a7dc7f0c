#include "verify/statistics.h"

#include <gtest/gtest.h>

#include <random>

#include "verify/signed_rank.h"

namespace kforge {
namespace {

TEST(Statistics, MedianOfOddEvenAndNothing) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median(std::vector<double>{}), 0);
}

TEST(Statistics, QuantileInterpolates) {
  std::vector<double> values{0, 10, 20, 30};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 0);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 30);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 15);
}

TEST(Statistics, IntervalContainsTheMedianAndIgnoresAnOutlier) {
  std::vector<double> values{10, 10.1, 9.9, 10.05, 9.95, 10, 10.02, 500};
  Interval interval = median_interval(values);
  EXPECT_LE(interval.lo, interval.value);
  EXPECT_GE(interval.hi, interval.value);
  EXPECT_LT(interval.hi, 11);
}

TEST(Statistics, TheSameSamplesGiveTheSameInterval) {
  std::vector<double> values{3, 1, 4, 1, 5, 9, 2, 6};
  Interval a = median_interval(values), b = median_interval(values);
  EXPECT_EQ(a.lo, b.lo);
  EXPECT_EQ(a.hi, b.hi);
}

// Noise common to a round cancels in the paired ratio: that is why programs are interleaved.
TEST(Statistics, PairedRatioCancelsCommonNoise) {
  std::mt19937_64 random(1);
  std::vector<double> slow, fast;
  for (int i = 0; i < 20; ++i) {
    double noise = 1 + static_cast<double>(random() % 1000) / 500;
    slow.push_back(200 * noise);
    fast.push_back(100 * noise);
  }
  Interval ratio = paired_ratio(slow, fast);
  EXPECT_NEAR(ratio.value, 2, 1e-9);
  EXPECT_NEAR(ratio.lo, 2, 1e-9);
  EXPECT_NEAR(ratio.hi, 2, 1e-9);
}

TEST(Statistics, SignedRankIntervalIsTheOneOfTheTables) {
  // n = 7, 95 %: the third of the 28 pairwise means from either end.
  const std::vector<double> values{1, 2, 4, 8, 16, 32, 64};
  const Interval interval = signed_rank_interval(values);
  EXPECT_DOUBLE_EQ(interval.lo, 2);   // 1, 1.5, 2
  EXPECT_DOUBLE_EQ(interval.hi, 40);  // 64, 48, 40
  EXPECT_EQ(least_differences(0.95), 6);
  EXPECT_EQ(least_differences(0.99), 8);
  // Too few for 95 %: from the smallest to the largest.
  EXPECT_DOUBLE_EQ(signed_rank_interval(std::vector<double>{3, 1, 2}).lo, 1);
  EXPECT_DOUBLE_EQ(signed_rank_interval(std::vector<double>{3, 1, 2}).hi, 3);
  EXPECT_EQ(signed_rank_interval({}).hi, 0);
}

// Two programs that are the same, under noise that is one-sided, heavy and comes in bursts: 95 % means 95 %.
// The bootstrap of a median that was here before excluded 1 in a tenth of such races of seven rounds.
TEST(Statistics, IdenticalProgramsWinAsOftenAsTheIntervalSays) {
  std::mt19937_64 random(11);
  std::exponential_distribution<double> burst(1);
  for (const int rounds : {7, 15, 30}) {
    int wins = 0, losses = 0;
    constexpr int kRaces = 2000;
    for (int race = 0; race < kRaces; ++race) {
      std::vector<double> a, b;
      double busy = 0;
      for (int round = 0; round < rounds; ++round) {
        if (random() % 4 == 0) busy = random() % 2 ? 2 * burst(random) : 0;  // a neighbour comes or goes
        auto time = [&] { return 1 + 0.01 * burst(random) + (random() % 2 ? busy : 0); };
        a.push_back(time()), b.push_back(time());
      }
      const Interval ratio = paired_ratio(a, b);
      wins += ratio.lo > 1, losses += ratio.hi < 1;
    }
    EXPECT_LE(wins, kRaces * 35 / 1000) << rounds;
    EXPECT_LE(losses, kRaces * 35 / 1000) << rounds;
  }
}

// About 95 % of intervals must contain the true median; a coverage far below would accept noise as progress.
TEST(Statistics, IntervalsCoverTheTruth) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(100, 5);
  int covered = 0;
  constexpr int kRuns = 200;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> values(15);
    for (double& value : values) value = noise(random);
    Interval interval = median_interval(values);
    covered += interval.lo <= 100 && 100 <= interval.hi;
  }
  EXPECT_GT(covered, kRuns * 88 / 100);
}

TEST(GeometricMean, WeighsRatiosByTheirLogarithm) {
  GeometricMean mean;
  EXPECT_TRUE(mean.empty());
  mean.add({1, 0.5, 2}, 3);
  mean.add({16, 8, 32}, 1);
  ASSERT_FALSE(mean.empty());
  EXPECT_NEAR(mean.get().value, 2, 1e-12);
  EXPECT_NEAR(mean.get().lo, 1, 1e-12);
  EXPECT_NEAR(mean.get().hi, 4, 1e-12);
}

}  // namespace
}  // namespace kforge

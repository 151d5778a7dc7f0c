#include "verify/statistics.h"

#include <gtest/gtest.h>

#include <random>

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

#include "task/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "graph/dtype.h"

namespace kforge {
namespace {

struct Stats {
  double mean = 0, deviation = 0, kurtosis = 0, most = 0;
};
Stats stats(const std::vector<float>& values) {
  Stats out;
  for (float v : values) out.mean += v, out.most = std::max(out.most, std::fabs(static_cast<double>(v)));
  out.mean /= static_cast<double>(values.size());
  double fourth = 0;
  for (float v : values) out.deviation += std::pow(v - out.mean, 2), fourth += std::pow(v - out.mean, 4);
  out.deviation = std::sqrt(out.deviation / static_cast<double>(values.size()));
  out.kurtosis = fourth / static_cast<double>(values.size()) / std::pow(out.deviation, 4);
  return out;
}

constexpr std::size_t kCount = 1 << 20;

TEST(Random, NormalHasItsMoments) {
  std::vector<float> values(kCount);
  random_normal(7, 0, values, 2, 3);
  Stats s = stats(values);
  EXPECT_NEAR(s.mean, 2, 0.015);
  EXPECT_NEAR(s.deviation, 3, 0.01);
  EXPECT_NEAR(s.kurtosis, 3, 0.03);
  EXPECT_GT(s.most, 2 + 4 * 3);
  EXPECT_LT(s.most, 2 + 6 * 3);
}

// Kolmogorov-Smirnov against the true distribution function.
TEST(Random, NormalHasItsShape) {
  std::vector<float> values(kCount);
  random_normal(11, 0, values, 0, 1);
  std::sort(values.begin(), values.end());
  double worst = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    double expected = 0.5 * std::erfc(-static_cast<double>(values[i]) / std::sqrt(2.0));
    worst = std::max(worst, std::fabs(expected - (static_cast<double>(i) + 0.5) / kCount));
  }
  EXPECT_LT(worst, 1.95 / std::sqrt(static_cast<double>(kCount)));
}

TEST(Random, UniformIsFlatAndInside) {
  std::vector<float> values(kCount);
  random_uniform(3, 0, values, -1, 1);
  std::vector<int> bins(64);
  for (float v : values) {
    ASSERT_GE(v, -1);
    ASSERT_LE(v, 1);
    ++bins[std::min(63, static_cast<int>((v + 1) * 32))];
  }
  double chi = 0, expected = kCount / 64.0;
  for (int count : bins) chi += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi, 120);
  // Neighbours are not related.
  double product = 0;
  for (std::size_t i = 1; i < kCount; ++i) product += static_cast<double>(values[i]) * values[i - 1];
  EXPECT_LT(std::fabs(product / kCount), 0.002);
}

TEST(Random, HeavyTailIsHeavy) {
  std::vector<float> values(kCount);
  random_heavy(5, 0, values, 0, 1);
  Stats s = stats(values);
  EXPECT_GT(s.most, 30);
  EXPECT_NEAR(s.mean, 0, 0.02);
  for (float v : values) ASSERT_TRUE(std::isfinite(v));
}

TEST(Random, AnyPartOfAStreamIsTheSame) {
  std::vector<float> whole(8 * kRandomBlock), part(3 * kRandomBlock);
  random_normal(9, 0, whole, 0, 1);
  random_normal(9, 5 * kRandomBlock, part, 0, 1);
  for (std::size_t i = 0; i < part.size(); ++i) ASSERT_EQ(part[i], whole[5 * kRandomBlock + i]);
  std::vector<float> other(part.size());
  random_normal(10, 5 * kRandomBlock, other, 0, 1);
  EXPECT_NE(other, part);
}

// Golden values: another machine, compiler or vector width must give exactly these.
TEST(Random, SameEverywhere) {
  std::vector<float> values(kRandomBlock);
  random_normal(123456789, 0, values, 0, 1);
  std::uint64_t hash = 0;
  for (float v : values) hash = hash * 1099511628211ULL + std::bit_cast<std::uint32_t>(v);
  random_uniform(123456789, 0, values, -1, 1);
  for (float v : values) hash = hash * 1099511628211ULL + std::bit_cast<std::uint32_t>(v);
  random_heavy(123456789, 0, values, 0, 1);
  for (float v : values) hash = hash * 1099511628211ULL + std::bit_cast<std::uint32_t>(v);
  EXPECT_EQ(hash, 9603899091658799377ULL);
}

TEST(Random, Integers) {
  std::vector<std::int64_t> values(kCount);
  random_integers(1, 0, values, -5, 3);
  int counts[3] = {};
  for (std::int64_t v : values) {
    ASSERT_GE(v, -5);
    ASSERT_LT(v, -2);
    ++counts[v + 5];
  }
  for (int count : counts) EXPECT_NEAR(count, kCount / 3.0, 4000);
  random_integers(1, 0, values, 0, std::uint64_t{1} << 40);
  EXPECT_GT(*std::max_element(values.begin(), values.end()), std::int64_t{1} << 39);
}

TEST(Random, BlockConversionsMatchTheScalarOnes) {
  std::vector<float> values(kCount);
  random_heavy(5, 0, values, 0, 1e-4f);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] *= 1e9f;
  for (std::size_t i = 1; i < values.size(); i += 3) values[i] *= 1e-5f;
  std::vector<std::uint16_t> bf16(kCount), fp16(kCount);
  store_bf16(values, bf16.data());
  store_fp16(values, fp16.data());
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(bf16[i], bf16_from_float(values[i]));
    ASSERT_EQ(fp16[i], fp16_from_float(values[i])) << values[i];
  }
}

}  // namespace
}  // namespace kforge

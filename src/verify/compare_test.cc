#include "verify/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>

#include "execute/tensor_memory.h"

namespace kforge {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

ExpectedOutput expected_of(std::vector<float> values, Shape shape) {
  ExpectedOutput output;
  output.name = "y";
  output.shape = std::move(shape);
  double square = 0;
  for (float v : values) square += std::isfinite(v) ? static_cast<double>(v) * v : 0;
  output.rms = std::sqrt(square / static_cast<double>(values.size()));
  output.values = std::move(values);
  return output;
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

CompareOptions fp32() { return {*policy_from_name("fp32"), false, 2}; }

TEST(Compare, EqualIsRight) {
  auto expected = expected_of({1, -2, 3, 4}, {2, 2});
  Comparison found = compare_output(expected, bytes_of(expected.values), fp32());
  EXPECT_TRUE(found.ok());
  EXPECT_EQ(found.max_abs, 0);
  EXPECT_TRUE(found.allclose_1e4);
}

TEST(Compare, SmallErrorsPassAndCoarseOnesFail) {
  auto expected = expected_of({1, -1, 1, -1}, {4});
  std::vector<float> slightly{1 + 2e-6f, -1, 1, -1}, coarsely{1 + 5e-4f, -1, 1, -1};
  EXPECT_TRUE(compare_output(expected, bytes_of(slightly), fp32()).ok());
  Comparison found = compare_output(expected, bytes_of(coarsely), fp32());
  EXPECT_EQ(found.wrong, 1);
  EXPECT_EQ(found.first_wrong, 0);
  EXPECT_NEAR(found.max_rel, 5e-4, 1e-6);
  EXPECT_GT(found.worst_ratio, 50);
}

TEST(Compare, SmallElementsAreJudgedByTheScaleOfTheirRow) {
  auto expected = expected_of({1e-6f, 1}, {1, 2});
  std::vector<float> actual{0, 1};
  EXPECT_TRUE(compare_output(expected, bytes_of(actual), fp32()).ok());
}

TEST(Compare, TheYardsticksOwnErrorWidensTheBound) {
  auto expected = expected_of({1, 1}, {2});
  std::vector<float> actual{1 + 1e-3f, 1};
  EXPECT_FALSE(compare_output(expected, bytes_of(actual), fp32()).ok());
  expected.yardstick_worst_abs = 5e-4;
  EXPECT_TRUE(compare_output(expected, bytes_of(actual), fp32()).ok());
}

CompareOptions ordinary() { return {.policy = *policy_from_name("fp32"), .ordinary = true}; }

// Nearly constant results: an error that is small beside the constant, and not beside what varies.
TEST(Compare, ErrorsAreMeasuredAgainstWhatVaries) {
  std::vector<float> values, coarse, last_bit;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(1000 + static_cast<float>(i % 7) / 8);
    coarse.push_back(values.back() + 2e-3f);
    last_bit.push_back(std::nextafter(values.back(), 2000.0f));
  }
  ExpectedOutput expected = expected_of(values, {10, 100});
  expected.mean = 1000.375, expected.deviation = 0.25;
  EXPECT_FALSE(compare_output(expected, bytes_of(coarse), ordinary()).ok());
  EXPECT_TRUE(compare_output(expected, bytes_of(coarse), fp32()).ok());  // constant or extreme inputs
  EXPECT_TRUE(compare_output(expected, bytes_of(last_bit), ordinary()).ok());
}

// An outlier across zero from the mean: its distance is twice its size, its bound is not.
TEST(Compare, DistanceFromTheMeanDoesNotWidenTheBound) {
  std::vector<float> values(512, 10.0f), off;
  values[5] = -10;
  off = values;
  off[5] *= 1 + 8e-6f;
  ExpectedOutput expected = expected_of(values, {1, 512});
  expected.mean = 9.96, expected.deviation = 0.88;
  EXPECT_EQ(compare_output(expected, bytes_of(off), ordinary()).wrong, 1);
}

TEST(Compare, SmallProbabilitiesMayNotBeLeftOut) {
  std::vector<float> values(512, 1e-12f), flushed(512, 0.0f);
  values[3] = flushed[3] = 1;
  ExpectedOutput expected = expected_of(values, {1, 512});
  expected.deviation = expected.rms;
  EXPECT_TRUE(compare_output(expected, bytes_of(flushed), ordinary()).ok());
  expected.yardstick_worst_rel = 1e-6;
  Comparison found = compare_output(expected, bytes_of(flushed), ordinary());
  EXPECT_EQ(found.wrong, 511);
  std::vector<float> rounded = values;
  for (float& v : rounded) v *= 1 + 1e-4f;
  rounded[3] = 1;
  EXPECT_TRUE(compare_output(expected, bytes_of(rounded), ordinary()).ok());
}

TEST(Compare, TheErrorOfALongSumWidensTheBoundOnlySoFar) {
  ExpectedOutput expected = expected_of({5.25f}, {});
  expected.deviation = expected.rms;
  expected.yardstick_worst_abs = 0.3;
  expected.long_sums = true;
  CompareOptions own = ordinary();
  own.no_outliers = true;
  const std::vector<float> sampled{5.25f * (1 + 3e-4f)}, summed{5.25f * (1 + 5e-5f)};
  EXPECT_FALSE(compare_output(expected, bytes_of(sampled), own).ok());
  EXPECT_TRUE(compare_output(expected, bytes_of(summed), own).ok());
}

// A bound relative to the largest element would let small ones be anything.
TEST(Compare, NarrowTypesAreAllowedTheirRoundingAtEachElement) {
  std::vector<float> values;
  std::vector<std::uint16_t> rounded, coarse;
  for (int i = 0; i < 256; ++i) {
    values.push_back(0.5f + static_cast<float>(i) * 0.37f);
    rounded.push_back(bf16_from_float(values.back()));
    coarse.push_back(bf16_from_float(values.back() * 1.02f));
  }
  ExpectedOutput expected = expected_of(values, {16, 16});
  expected.dtype = DType::kBFloat16;
  expected.mean = 47.6, expected.deviation = 27;
  EXPECT_TRUE(compare_output(expected, bytes_of(rounded), ordinary()).ok());
  EXPECT_GT(compare_output(expected, bytes_of(coarse), ordinary()).wrong, 200);
}

TEST(Compare, NonFiniteValuesMustStandWhereTheOracleHasThem) {
  auto expected = expected_of({kInf, -kInf, kNan, 1}, {4});
  EXPECT_TRUE(compare_output(expected, bytes_of(expected.values), fp32()).ok());
  for (const std::vector<float>& actual :
       {std::vector<float>{-kInf, -kInf, kNan, 1}, {kInf, -kInf, 0, 1}, {kInf, -kInf, kNan, kNan}}) {
    Comparison found = compare_output(expected, bytes_of(actual), fp32());
    EXPECT_EQ(found.wrong, 1);
    EXPECT_EQ(found.wrong_nonfinite, 1);
  }
}

TEST(Compare, ExactWantsEqualBitsButMinusZeroIsZero) {
  auto expected = expected_of({0, 3}, {2});
  CompareOptions exact = fp32();
  exact.exact = true;
  std::vector<float> minus_zero{-0.0f, 3}, off{0, std::nextafter(3.0f, 4.0f)};
  EXPECT_TRUE(compare_output(expected, bytes_of(minus_zero), exact).ok());
  EXPECT_FALSE(compare_output(expected, bytes_of(off), exact).ok());
}

TEST(Compare, IntegersAreExact) {
  ExpectedOutput expected;
  expected.name = "y";
  expected.dtype = DType::kInt32;
  expected.shape = {3};
  expected.ints = {1, 2, 3};
  std::vector<std::int32_t> right{1, 2, 3}, wrong{1, 2, 4};
  EXPECT_TRUE(compare_output(expected, bytes_of(right), fp32()).ok());
  EXPECT_EQ(compare_output(expected, bytes_of(wrong), fp32()).first_wrong, 2);
}

TEST(Compare, AnIndexThatReachesTheSameValueIsAsGood) {
  ExpectedOutput expected;
  expected.name = "y";
  expected.dtype = DType::kInt64;
  expected.shape = {2};
  expected.ints = {0, 1};
  expected.index_source = IndexSource{{2, 3}, 1, {5, 5, 1, 0, 7, 7}, 0};
  std::vector<std::int64_t> tie{1, 2}, worse{2, 1}, outside{9, 1};
  EXPECT_TRUE(compare_output(expected, bytes_of(tie), fp32()).ok());
  EXPECT_EQ(compare_output(expected, bytes_of(worse), fp32()).first_wrong, 0);
  EXPECT_EQ(compare_output(expected, bytes_of(outside), fp32()).first_wrong, 0);
}

// What is left in the buffer is not a number, and no result either.
TEST(Compare, AnUntouchedElementIsWrongWhereTheTruthIsNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto expected = expected_of({1, nan, 2}, {3});
  std::vector<float> actual{1, nan, 2};
  EXPECT_TRUE(compare_output(expected, bytes_of(actual), fp32()).ok());
  poison(DType::kFloat32, 0, std::as_writable_bytes(std::span(actual)).subspan(4, 4));
  EXPECT_EQ(compare_output(expected, bytes_of(actual), fp32()).first_wrong, 1);
}

TEST(Compare, OneElementIsChosenOnce) {
  auto expected = expected_of({}, {});
  expected.values.clear();
  expected.dtype = DType::kInt64;
  expected.shape = {2, 2};
  expected.ints = {0, 1, 1, 2};
  expected.index_source = IndexSource{{2, 3}, 1, {5, 5, 1, 0, 7, 7}, 0};
  std::vector<std::int64_t> other_way{1, 0, 2, 1}, same_twice{0, 1, 1, 1};
  EXPECT_TRUE(compare_output(expected, bytes_of(other_way), fp32()).ok());
  EXPECT_EQ(compare_output(expected, bytes_of(same_twice), fp32()).first_wrong, 3);
  // The same choices along the first axis.
  expected.index_source = IndexSource{{3, 2}, 0, {5, 0, 5, 7, 1, 7}, 0};
  expected.ints = {0, 1, 1, 2};
  std::vector<std::int64_t> first_axis{1, 1, 0, 2}, twice_below{0, 1, 0, 2};
  EXPECT_TRUE(compare_output(expected, bytes_of(first_axis), fp32()).ok());
  EXPECT_EQ(compare_output(expected, bytes_of(twice_below), fp32()).first_wrong, 2);
}

TEST(Compare, Bfloat16IsReadAsSuch) {
  auto expected = expected_of({1, 2}, {2});
  expected.dtype = DType::kBFloat16;
  std::vector<std::uint16_t> actual{bf16_from_float(1), bf16_from_float(2)};
  EXPECT_TRUE(compare_output(expected, bytes_of(actual), fp32()).ok());
}

TEST(Compare, PartsMergeLikeTheWhole) {
  std::vector<float> values(1 << 19);
  std::iota(values.begin(), values.end(), 0.0f);
  auto expected = expected_of(values, {512, 1024});
  auto actual = values;
  actual[5] += 1e6f;
  actual.back() += 2e6f;
  CompareOptions one = fp32(), two = fp32();
  one.threads = 1;
  Comparison a = compare_output(expected, bytes_of(actual), one),
             b = compare_output(expected, bytes_of(actual), two);
  EXPECT_EQ(a.wrong, 2);
  EXPECT_EQ(b.wrong, 2);
  EXPECT_EQ(a.first_wrong, b.first_wrong);
  EXPECT_EQ(a.worst.front().index, b.worst.front().index);
  EXPECT_NEAR(a.rel_norm, b.rel_norm, 1e-12);
}

// Long rows are first looked at block by block; what is found must not depend on that.
TEST(Compare, LongRowsAreJudgedLikeSingleElements) {
  constexpr std::int64_t kLength = 5000;
  std::vector<float> truth(2 * kLength), actual;
  for (std::size_t i = 0; i < truth.size(); ++i) truth[i] = std::sin(0.37f * static_cast<float>(i));
  actual = truth;
  for (std::size_t i = 0; i < actual.size(); i += 7) actual[i] += 1e-7f * static_cast<float>(i % 31);
  auto expected = expected_of(truth, {2, kLength});
  Comparison right = compare_output(expected, bytes_of(actual), fp32());
  double largest = 0, square_error = 0, square_truth = 0;
  std::int64_t at = -1;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    double want = static_cast<double>(truth[i]), error = std::abs(static_cast<double>(actual[i]) - want);
    if (error > largest) at = static_cast<std::int64_t>(i);
    largest = std::max(largest, error);
    square_error += error * error;
    square_truth += want * want;
  }
  EXPECT_TRUE(right.ok());
  EXPECT_TRUE(right.allclose_1e4);
  EXPECT_EQ(right.max_abs, largest);
  EXPECT_NEAR(right.rel_norm, std::sqrt(square_error / square_truth), 1e-12);
  ASSERT_FALSE(right.worst.empty());
  EXPECT_LE(std::abs(right.worst[0].error - largest), 0.5 * largest) << right.worst[0].index << " " << at;

  actual[4321] += 0.01f;
  actual[7777] = kNan;
  actual[8888] = kInf;
  Comparison wrong = compare_output(expected, bytes_of(actual), fp32());
  EXPECT_EQ(wrong.wrong, 3);
  EXPECT_EQ(wrong.wrong_nonfinite, 2);
  EXPECT_EQ(wrong.first_wrong, 4321);
  EXPECT_NEAR(wrong.max_abs, 0.01, 1e-5);
  EXPECT_FALSE(wrong.allclose_1e4);
}

TEST(Compare, NonFiniteTruthInLongRowsIsMetExactly) {
  std::vector<float> truth(1000, 2);
  truth[300] = kInf;
  truth[301] = kNan;
  auto expected = expected_of(truth, {1000});
  EXPECT_TRUE(compare_output(expected, bytes_of(truth), fp32()).ok());
  std::vector<float> other = truth;
  other[300] = -kInf;
  other[301] = 0;
  EXPECT_EQ(compare_output(expected, bytes_of(other), fp32()).wrong, 2);
}

TEST(Compare, ExactLongRowsFindASingleLastBit) {
  std::vector<float> truth(1000, 3);
  auto expected = expected_of(truth, {1000});
  CompareOptions exact = fp32();
  exact.exact = true;
  EXPECT_TRUE(compare_output(expected, bytes_of(truth), exact).ok());
  truth[511] = std::nextafter(3.0f, 4.0f);
  Comparison found = compare_output(expected, bytes_of(truth), exact);
  EXPECT_EQ(found.wrong, 1);
  EXPECT_EQ(found.first_wrong, 511);
}

TEST(Compare, MayStopAtTheFirstWrongRow) {
  std::vector<float> truth(4000, 1), zeros(4000, 0);
  CompareOptions options = fp32();
  options.stop_when_wrong = true;
  Comparison found = compare_output(expected_of(truth, {40, 100}), bytes_of(zeros), options);
  EXPECT_EQ(found.wrong, 100);
  EXPECT_GT(found.worst_ratio, 1);
}

}  // namespace
}  // namespace kforge

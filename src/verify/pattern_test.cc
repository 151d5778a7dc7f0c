#include "verify/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kforge {
namespace {

using testing::HasSubstr;

ExpectedOutput ramp(Shape shape) {
  ExpectedOutput output;
  output.name = "y";
  output.shape = shape;
  double square = 0;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    output.values.push_back(static_cast<float>(1 + i % 97));
    square += static_cast<double>(output.values.back()) * output.values.back();
  }
  output.rms = std::sqrt(square / static_cast<double>(output.values.size()));
  return output;
}

std::string pattern_of(const ExpectedOutput& expected, const std::vector<float>& actual) {
  return compare_output(expected, std::as_bytes(std::span(actual)), {*policy_from_name("fp32"), false, 1})
      .pattern;
}

TEST(Pattern, Constant) {
  auto expected = ramp({8, 8});
  EXPECT_THAT(pattern_of(expected, std::vector<float>(64, 0)), HasSubstr("every element is 0"));
}

TEST(Pattern, Factor) {
  auto expected = ramp({8, 8});
  auto actual = expected.values;
  for (float& v : actual) v *= 2;
  EXPECT_THAT(pattern_of(expected, actual), HasSubstr("2 times"));
  for (float& v : actual) v *= -0.5f;
  EXPECT_THAT(pattern_of(expected, actual), HasSubstr("wrong sign"));
}

TEST(Pattern, Transposed) {
  auto expected = ramp({5, 7});
  std::vector<float> actual(35);
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 7; ++j) actual[j * 5 + i] = expected.values[i * 7 + j];
  EXPECT_THAT(pattern_of(expected, actual), HasSubstr("transposed"));
}

TEST(Pattern, EveryFourth) {
  auto expected = ramp({256});
  auto actual = expected.values;
  for (std::size_t i = 3; i < actual.size(); i += 4) actual[i] = -1;
  EXPECT_THAT(pattern_of(expected, actual), HasSubstr("every 4th"));
}

TEST(Pattern, Tail) {
  auto expected = ramp({250});
  auto actual = expected.values;
  for (std::size_t i = 248; i < 250; ++i) actual[i] = -1;
  EXPECT_THAT(pattern_of(expected, actual), HasSubstr("from element 248 on"));
}

TEST(Pattern, LastColumn) {
  auto expected = ramp({16, 9});
  auto actual = expected.values;
  for (std::size_t row = 0; row < 16; ++row) actual[row * 9 + 8] = -1;
  EXPECT_THAT(pattern_of(expected, actual), HasSubstr("last column"));
}

}  // namespace
}  // namespace kforge

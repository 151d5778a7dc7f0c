#include "graph/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace kforge {
namespace {

TEST(DType, NamesComeBack) {
  for (int i = 0; i <= static_cast<int>(DType::kString); ++i) {
    auto dtype = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(name_of(dtype)), dtype);
  }
  EXPECT_EQ(dtype_from_name("float8"), std::nullopt);
  EXPECT_EQ(c_type_of(DType::kBFloat16), "uint16_t");
  EXPECT_EQ(c_type_of(DType::kBool), "uint8_t");
  EXPECT_EQ(size_of(DType::kFloat16), 2u);
}

// The compiler's own _Float16 is the judge.
TEST(DType, EveryFloat16ValueConvertsAsTheCompilerDoes) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    auto half = std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits));
    float expected = static_cast<float>(half), actual = float_from_fp16(static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual));
      EXPECT_TRUE(std::isnan(float_from_fp16(fp16_from_float(actual))));
    } else {
      EXPECT_EQ(expected, actual) << bits;
      EXPECT_EQ(fp16_from_float(actual), bits);
    }
  }
}

TEST(DType, RoundingMatchesTheCompilerBetweenFloat16Values) {
  std::uint32_t state = 1;
  for (int i = 0; i < 2'000'000; ++i) {
    state = state * 1664525 + 1013904223;
    float value = std::bit_cast<float>(state);
    if (std::isnan(value)) continue;
    ASSERT_EQ(fp16_from_float(value), std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))) << value;
  }
}

TEST(DType, DoublesAreRoundedOnce) {
  std::uint64_t state = 1;
  for (int i = 0; i < 500'000; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    // Near float16's range, with bits beyond float's precision.
    double value =
        std::ldexp(1.0 + static_cast<double>(state >> 12) * 0x1p-52, static_cast<int>(state % 44) - 26);
    ASSERT_EQ(fp16_from_double(value), std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))) << value;
  }
  // Just above the middle between two float16 values; through float it would first become the middle, then
  // even.
  double above = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(fp16_from_double(above), 0x3c01);
  EXPECT_EQ(bf16_from_double(1.0 + 0x1p-8 + 0x1p-40), 0x3f81);
}

TEST(DType, Bfloat16RoundsToEvenAndKeepsNan) {
  EXPECT_EQ(bf16_from_float(1.0f), 0x3f80);
  EXPECT_EQ(bf16_from_float(1.0f + 0x1p-8f), 0x3f80);      // tie to even
  EXPECT_EQ(bf16_from_float(1.0f + 3 * 0x1p-8f), 0x3f82);  // tie to even, upwards
  EXPECT_EQ(bf16_from_float(1.0f + 0x1p-8f + 0x1p-20f), 0x3f81);
  EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(std::bit_cast<float>(0x7f800001)))));
  EXPECT_EQ(float_from_bf16(0xc000), -2.0f);
}

}  // namespace
}  // namespace kforge

#include "graph/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace kforge {
namespace {

struct Row {
  DType dtype;
  std::size_t size;
  std::string_view name;
  std::string_view c_type;
};

constexpr Row kRows[] = {
    {DType::kFloat32, 4, "float32", "float"},    {DType::kFloat64, 8, "float64", "double"},
    {DType::kFloat16, 2, "float16", "_Float16"}, {DType::kBFloat16, 2, "bfloat16", "uint16_t"},
    {DType::kInt8, 1, "int8", "int8_t"},         {DType::kInt16, 2, "int16", "int16_t"},
    {DType::kInt32, 4, "int32", "int32_t"},      {DType::kInt64, 8, "int64", "int64_t"},
    {DType::kUInt8, 1, "uint8", "uint8_t"},      {DType::kUInt16, 2, "uint16", "uint16_t"},
    {DType::kUInt32, 4, "uint32", "uint32_t"},   {DType::kUInt64, 8, "uint64", "uint64_t"},
    {DType::kBool, 1, "bool", "uint8_t"},        {DType::kString, 0, "string", "const char*"},
};

const Row& row_of(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

// Rounds to float so that a later rounding to fewer bits gives what one rounding of the double would have
// given: truncate, then set the last bit when something was cut off ("round to odd").
float round_to_odd(double value) {
  float nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

}  // namespace

std::size_t size_of(DType dtype) { return row_of(dtype).size; }
std::string_view name_of(DType dtype) { return row_of(dtype).name; }
std::string_view c_type_of(DType dtype) { return row_of(dtype).c_type; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& row : kRows)
    if (row.name == name) return row.dtype;
  return std::nullopt;
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16;
}

float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t bf16_from_float(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value))
    return static_cast<std::uint16_t>((bits >> 16) | 0x40);  // quiet, and never all zeros
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float float_from_fp16(std::uint16_t half) {
  std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  std::uint32_t exponent = (half >> 10) & 0x1f;
  std::uint32_t mantissa = half & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  if (exponent == 0) {
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

std::uint16_t fp16_from_float(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;   // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // rounds to infinity: 65520 and above
  if (magnitude < 0x38800000) {                       // below 2^-14: subnormal, a multiple of 2^-24
    // Adding 0.5 aligns the last kept bit with the last bit of a float near 0.5, so the adder rounds to even.
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000));
  }
  std::uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

std::uint16_t bf16_from_double(double value) { return bf16_from_float(round_to_odd(value)); }
std::uint16_t fp16_from_double(double value) { return fp16_from_float(round_to_odd(value)); }

}  // namespace kforge

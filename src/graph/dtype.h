// Element types of tensors: the ones ONNX has and KForge reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kforge {

enum class DType : std::uint8_t {
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kBool,
  kString,
};

std::size_t size_of(DType dtype);         // bytes of an element; 0 for strings
std::string_view name_of(DType dtype);    // "float32", "bfloat16", "bool", ...
std::string_view c_type_of(DType dtype);  // "float", "_Float16", "uint16_t" for bfloat16, "uint8_t" for bool
std::optional<DType> dtype_from_name(std::string_view name);
bool is_float(DType dtype);  // float32, float64, float16, bfloat16

// Conversions with round-to-nearest-even; NaN stays NaN.
float float_from_bf16(std::uint16_t bits);
std::uint16_t bf16_from_float(float value);
float float_from_fp16(std::uint16_t bits);
std::uint16_t fp16_from_float(float value);
// One rounding only: through float would round twice.
std::uint16_t bf16_from_double(double value);
std::uint16_t fp16_from_double(double value);

}  // namespace kforge

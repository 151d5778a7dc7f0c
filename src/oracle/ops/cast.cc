// Conversions between element types.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "oracle/elementwise.h"
#include "oracle/ops/operators.h"

namespace kforge {
namespace {

// ONNX's numbers for element types (TensorProto.DataType).
DType dtype_from_onnx(std::int64_t code) {
  switch (code) {
    case 1:
      return DType::kFloat32;
    case 2:
      return DType::kUInt8;
    case 3:
      return DType::kInt8;
    case 4:
      return DType::kUInt16;
    case 5:
      return DType::kInt16;
    case 6:
      return DType::kInt32;
    case 7:
      return DType::kInt64;
    case 8:
      return DType::kString;
    case 9:
      return DType::kBool;
    case 10:
      return DType::kFloat16;
    case 11:
      return DType::kFloat64;
    case 12:
      return DType::kUInt32;
    case 13:
      return DType::kUInt64;
    case 16:
      return DType::kBFloat16;
    default:
      refuse("element type {} is unknown", code);
  }
}

template <class F>
std::int64_t to_int(DType dtype, F value) {
  if (dtype == DType::kBool) return value != 0;
  constexpr F kTwo63 = F(9223372036854775808.0);
  if (dtype == DType::kUInt64 && value >= kTwo63 && value < 2 * kTwo63)
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
  return wrap_to(dtype, int_from_float(static_cast<double>(value)));
}

double parse_number(const std::string& text) {
  double value = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse("\"{}\" is not a number", text);
  return value;
}

// As NumPy prints a float32: the shortest text that reads back as the same value.
std::string print_number(double value, DType dtype) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  std::string text =
      dtype == DType::kFloat64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

// float16 and bfloat16 round in both precisions, as the node asks for it; float32 and float64 keep the value
// as it is held. Integers wrap around like two's complement.
template <class F>
Tensor<F> cast(const Call<F>& call, const Tensor<F>& x, DType to) {
  if (x.dtype() == to) return x;
  Tensor<F> y(to, x.shape());
  if (x.dtype() == DType::kString) {
    for (std::size_t i = 0; i < x.strings().size(); ++i) {
      const double value = parse_number(x.strings()[i]);
      if (is_float(to))
        y.new_floats()[i] = round_to(to, static_cast<F>(value));
      else
        y.new_ints()[i] = to_int(to, value);
    }
  } else if (to == DType::kString) {
    for (std::size_t i = 0; i < y.strings().size(); ++i) {
      if (x.has_floats())
        y.new_strings()[i] = print_number(static_cast<double>(x.floats()[i]), x.dtype());
      else if (x.dtype() == DType::kUInt64)
        y.new_strings()[i] = fmt::format("{}", static_cast<std::uint64_t>(x.ints()[i]));
      else
        y.new_strings()[i] = fmt::format("{}", x.ints()[i]);
    }
  } else if (x.has_floats() && is_float(to)) {
    map_values(call, x.floats(), y.new_floats(), 4, [=](F v) { return round_to(to, v); });
  } else if (x.has_floats()) {
    map_values(call, x.floats(), y.new_ints(), 4, [=](F v) { return to_int(to, v); });
  } else if (is_float(to)) {
    const bool is_unsigned = x.dtype() == DType::kUInt64;
    map_values(call, x.ints(), y.new_floats(), 4, [=](std::int64_t v) {
      return round_to(to, is_unsigned ? static_cast<F>(static_cast<std::uint64_t>(v)) : static_cast<F>(v));
    });
  } else {
    map_values(call, x.ints(), y.new_ints(), 4, [=](std::int64_t v) { return wrap_to(to, v); });
  }
  return y;
}
template Tensor<double> cast(const Call<double>&, const Tensor<double>&, DType);
template Tensor<float> cast(const Call<float>&, const Tensor<float>&, DType);

template <class F>
DType dtype_attr(const Call<F>& call, std::string_view name, DType otherwise) {
  return call.node.has_attr(name) ? dtype_from_onnx(call.int_attr(name, 0)) : otherwise;
}
template DType dtype_attr(const Call<double>&, std::string_view, DType);
template DType dtype_attr(const Call<float>&, std::string_view, DType);

KF_ORACLE_OPERATOR(Cast) {
  if (!call.node.has_attr("to")) refuse("attribute to is missing");
  return {cast(call, call.in(0), dtype_attr(call, "to", DType::kFloat32))};
}
KF_ORACLE_OPERATOR(CastLike) { return {cast(call, call.in(0), call.in(1).dtype())}; }

KF_ORACLE_INSTANTIATE(Cast)
KF_ORACLE_INSTANTIATE(CastLike)

}  // namespace kforge

#include "smith/contract/contraction.h"

#include <fmt/format.h>

namespace kforge::smith {

std::vector<Axis> merged(std::vector<Axis> axes) {
  std::vector<Axis> out;
  for (const Axis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!out.empty() && out.back().stride == axis.extent * axis.stride)
      out.back() = {out.back().extent * axis.extent, axis.stride};
    else
      out.push_back(axis);
  }
  return out;
}

long extent_of(const std::vector<Axis>& axes) {
  long product = 1;
  for (const Axis& axis : axes) product *= axis.extent;
  return product;
}

std::string offset_expression(const std::vector<Axis>& axes, const std::string& index) {
  const std::vector<Axis> digits = merged(axes);
  std::string text;
  long below = 1;  // product of the extents of less significant digits
  for (std::size_t i = digits.size(); i-- > 0;) {
    std::string term = below == 1 ? index : fmt::format("{} / {}", index, below);
    if (i > 0) term += fmt::format(" % {}", digits[i].extent);
    below *= digits[i].extent;
    if (digits[i].stride == 0) continue;
    if (digits[i].stride != 1) term += fmt::format(" * {}", digits[i].stride);
    text = text.empty() ? term : term + " + " + text;
  }
  return text.empty() ? "0" : text;
}

long own_items(const Operand& operand) {
  long items = 1;
  for (const Axis& axis : operand.batch)
    if (axis.stride != 0) items *= axis.extent;
  return items;
}

bool is_linear(const std::vector<Axis>& axes) { return merged(axes).size() <= 1; }

long linear_stride(const std::vector<Axis>& axes) {
  const std::vector<Axis> digits = merged(axes);
  return digits.empty() ? 0 : digits.back().stride;
}

bool depth_is_linear(const Operand& operand) {
  return operand.depth_offset.empty() && is_linear(operand.depth);
}

std::string depth_expression(const Operand& operand, const std::string& index) {
  return operand.depth_offset.empty() ? offset_expression(operand.depth, index) : operand.depth_offset;
}

double TapRows::useful() const {
  double part = 1;
  for (int d = 0; d < 2; ++d) {
    long inside = 0;
    for (long o = 0; o < out[d]; ++o)
      for (long tap = 0; tap < taps[d]; ++tap) {
        const long at = o * strides[d] + tap * dilations[d] - begins[d];
        inside += at >= 0 && at < input[d] ? 1 : 0;
      }
    part *= static_cast<double>(inside) / static_cast<double>(out[d] * taps[d]);
  }
  return part;
}

Operand matrix_operand(std::string pointer, long side, long depth, bool depth_contiguous, long batch,
                       long batch_stride) {
  Operand operand;
  operand.pointer = std::move(pointer);
  operand.side = {{side, depth_contiguous ? depth : 1}};
  operand.depth = {{depth, depth_contiguous ? 1 : side}};
  if (batch > 1 && batch_stride > 0) operand.batch = {{batch, batch_stride}};
  return operand;
}

}  // namespace kforge::smith

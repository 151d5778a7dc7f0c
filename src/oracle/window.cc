#include "oracle/window.h"

namespace kforge {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 31;  // keeps the arithmetic below from overflowing

// Number of window positions when the last may (ceil) or may not reach over the padded end.
std::int64_t positions(std::int64_t padded, std::int64_t extent, std::int64_t stride, bool ceil) {
  if (padded < extent) return ceil && padded + stride > extent ? 1 : 0;
  return (padded - extent + (ceil ? stride - 1 : 0)) / stride + 1;
}

}  // namespace

Shape spatial_attr(const Node& node, std::string_view name, std::size_t count, std::int64_t otherwise,
                   std::int64_t lowest) {
  Shape values = node.ints_attr(name);
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count) refuse("{} has {} entries instead of {}", name, values.size(), count);
  for (std::int64_t value : values)
    if (value < lowest || value >= kLargest) refuse("{} has the entry {}", name, value);
  return values;
}

Shape kernel_shape_attr(const Node& node, const Shape& data) {
  if (data.size() < 3) refuse("shape {} has no spatial dimensions", to_string(data));
  return spatial_attr(node, "kernel_shape", data.size() - 2, 1, 1);
}

Window::Window(const Node& node, const Shape& data, Shape kernel_shape) : kernel(std::move(kernel_shape)) {
  if (data.size() < 3) refuse("shape {} has no spatial dimensions", to_string(data));
  input.assign(data.begin() + 2, data.end());
  if (kernel.size() != input.size())
    refuse("a kernel of {} dimensions over data of shape {}", kernel.size(), to_string(data));
  strides = spatial_attr(node, "strides", rank(), 1, 1);
  dilations = spatial_attr(node, "dilations", rank(), 1, 1);
  const Shape pads = spatial_attr(node, "pads", 2 * rank(), 0, 0);
  pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank()));
  pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank()), pads.end());
  const std::string auto_pad = node.string_attr("auto_pad", "NOTSET");
  const bool ceil = node.int_attr("ceil_mode", 0) != 0;
  for (std::size_t d = 0; d < rank(); ++d) {
    const std::int64_t extent = (kernel[d] - 1) * dilations[d] + 1;
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      const std::int64_t wanted = (input[d] + strides[d] - 1) / strides[d];
      const std::int64_t total = std::max<std::int64_t>(0, (wanted - 1) * strides[d] + extent - input[d]);
      pads_begin[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      pads_end[d] = total - pads_begin[d];
    } else if (auto_pad == "VALID") {
      pads_begin[d] = pads_end[d] = 0;
    } else if (auto_pad != "NOTSET" && !auto_pad.empty()) {
      refuse("auto_pad \"{}\" is unknown", auto_pad);
    }
    std::int64_t count = positions(input[d] + pads_begin[d] + pads_end[d], extent, strides[d], ceil);
    // A window that would begin in the padding at the end is left out.
    if (ceil && count > 0 && (count - 1) * strides[d] >= input[d] + pads_begin[d]) --count;
    output.push_back(count);
  }
}

}  // namespace kforge

// Sliding windows, as convolutions and poolings have them: kernel, strides, dilations and padding for any
// number of spatial dimensions, and the output size that follows.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "oracle/call.h"

namespace kforge {

struct Window {
  Shape input, kernel, output;  // spatial dimensions only
  Shape strides, dilations, pads_begin, pads_end;

  // Reads strides, dilations, pads, auto_pad and ceil_mode of a node. `data` has the shape N, C, spatial...
  Window(const Node& node, const Shape& data, Shape kernel_shape);

  std::size_t rank() const { return input.size(); }
  std::int64_t output_count() const { return checked_count(output); }
  std::int64_t kernel_count() const { return checked_count(kernel); }
};

// The kernel_shape attribute, checked against the spatial rank of the data.
Shape kernel_shape_attr(const Node& node, const Shape& data);
// A list attribute with one entry per spatial dimension, `otherwise` where it is absent. Entries outside of
// [lowest, 2^31) are refused.
Shape spatial_attr(const Node& node, std::string_view name, std::size_t count, std::int64_t otherwise,
                   std::int64_t lowest);

}  // namespace kforge

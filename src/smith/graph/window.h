// Sliding windows of convolutions and poolings: the attributes, with the padding that auto_pad asks for.
#pragma once

#include "smith/graph/lowering.h"

namespace kforge::smith {

struct Window {
  Shape input, kernel, output;  // spatial dimensions only
  Shape strides, dilations, begins, ends;

  Window(const Node& node, const Shape& data, const Shape& kernel_shape, const Shape& result);

  // Input position seen from output position o through kernel position k, along dimension d.
  Expr at(std::size_t d, const Expr& o, const Expr& k) const {
    return plus(plus(times(o, strides[d]), times(k, dilations[d])), -begins[d]);
  }
};

// One product of a convolution, x[b, group * C + c, o * stride + k * dilation - pad] * w[f, c, k], for the
// position `k` of the result and `r` of the sum.
struct ConvolutionTap {
  Position from, tap;  // in the data and in the weights
  Expr condition;      // inside the data; null: always
};
struct ConvolutionTaps {
  Window window;
  std::int64_t groups, channels, filters;
  Shape reduced;  // what is summed over

  ConvolutionTaps(const Node& node, const Shape& x, const Shape& w, const Shape& result);
  ConvolutionTap at(const Position& k, const Position& r) const;
};

// A list attribute with one entry per spatial dimension.
Shape spatial_attr(const Node& node, const char* name, std::size_t count, std::int64_t otherwise);

}  // namespace kforge::smith

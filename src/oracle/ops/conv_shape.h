// What Conv, ConvInteger, QLinearConv and ConvTranspose share.
#pragma once

#include "oracle/call.h"
#include "oracle/window.h"

namespace kforge {

// The sizes of a convolution of data N,C,spatial with weights M,C/groups,kernel; refuses what does not fit.
struct ConvShape {
  Window window;
  std::int64_t batch = 0, groups = 1, in_per_group = 0, out_per_group = 0;
  Shape result;

  ConvShape(const Node& node, const Shape& x, const Shape& w);
};

// For every position of the kernel, where the first window reads, which begins in the padding:
// [position][dimension].
std::vector<std::int64_t> tap_offsets(const Shape& kernel, const Shape& dilations, const Shape& pads);

template <class F>
Tensor<F> convolve(const Call<F>& call, const ConvShape& shape, const Tensor<F>& x, const Tensor<F>& w);

// y[n][c][...] += bias[c].
template <class F>
void add_channel_bias(const Call<F>& call, const Tensor<F>& bias, Tensor<F>& y);

}  // namespace kforge

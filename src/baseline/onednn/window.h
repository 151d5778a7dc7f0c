// Sliding windows of convolution and pooling: ONNX's attributes made explicit.
#pragma once

#include "baseline/onednn/tensor.h"

namespace kforge::onednn {

struct WindowShape {
  Shape kernel, stride, dilation, pad, pad_end;  // one entry per spatial dimension
};

// `large` is the image the window slides over, `small` has one element per position of the window; padding at
// the end is what makes the two fit (ceil_mode and output_padding included), so it may exceed what the node
// says.
WindowShape read_window(const Node& node, const Shape& kernel, const Shape& large, const Shape& small);

// For the loops, filled up to three spatial dimensions. `in` and `out` are [N, C, spatial...].
loops::Window loop_window(const Shape& in, const Shape& out, const WindowShape& window);

}  // namespace kforge::onednn

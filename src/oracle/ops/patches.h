// The matrix of patches of a convolution, of which only blocks are ever made: row k is (channel, kernel position),
// column j an output position, and the element is what that kernel position sees there (zero in the padding).
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "oracle/gemm.h"

namespace kforge {

inline constexpr std::size_t kMostSpatialDims = 8;

template <class F>
struct PackPatches {
  const Shape& input;      // spatial dimensions of the picture
  const Shape& positions;  // of the output
  const Shape& strides;
  const std::vector<std::int64_t>& offsets;  // [kernel position][dimension] of what position 0 sees
  std::int64_t taps;                         // kernel positions
  const F* picture;                          // the channels of one group, one after the other
  std::int64_t pixels;                       // of one channel

  void operator()(std::int64_t k, std::int64_t depth, std::int64_t j, std::int64_t width, std::int64_t panel_width,
                  F* panel) const {
    const std::size_t rank = input.size();
    std::int64_t corner[kTileColumns<F>][kMostSpatialDims];
    for (std::int64_t column = 0; column < width; ++column) {
      std::int64_t rest = j + column;
      for (std::size_t d = rank; d-- > 0; rest /= positions[d]) corner[column][d] = rest % positions[d] * strides[d];
    }
    for (std::int64_t row = 0; row < depth; ++row, panel += panel_width) {
      const F* channel = picture + (k + row) / taps * pixels;
      const std::int64_t* tap = offsets.data() + (k + row) % taps * static_cast<std::int64_t>(rank);
      for (std::int64_t column = 0; column < panel_width; ++column) {
        std::int64_t at = 0;
        bool inside = column < width;
        for (std::size_t d = 0; inside && d < rank; ++d) {
          const std::int64_t i = corner[column][d] + tap[d];
          inside = i >= 0 && i < input[d];
          at = at * input[d] + i;
        }
        panel[column] = inside ? channel[at] : F(0);
      }
    }
  }
};

}  // namespace kforge

// The matrix of patches of a convolution, of which only blocks are ever made: row k is (channel, kernel
// position), column j an output position, and the element is what that kernel position sees there (zero in
// the padding).
#pragma once

#include <algorithm>
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

  void operator()(std::int64_t k, std::int64_t depth, std::int64_t j, std::int64_t width,
                  std::int64_t panel_width, F* panel) const {
    const std::size_t rank = input.size();
    std::int64_t corner[kTileColumns<F>][kMostSpatialDims];
    for (std::int64_t column = 0; column < width; ++column) {
      std::int64_t rest = j + column;
      for (std::size_t d = rank; d-- > 0; rest /= positions[d])
        corner[column][d] = rest % positions[d] * strides[d];
    }
    // Columns that lie in one row of the output read one row of the picture, mostly all of them inside of it.
    const std::size_t last = rank - 1;
    const bool one_row = width == panel_width &&
                         corner[width - 1][last] == corner[0][last] + (width - 1) * strides[last] &&
                         std::equal(corner[0], corner[0] + last, corner[width - 1]);
    for (std::int64_t row = 0; row < depth; ++row, panel += panel_width) {
      const F* channel = picture + (k + row) / taps * pixels;
      const std::int64_t* tap = offsets.data() + (k + row) % taps * static_cast<std::int64_t>(rank);
      const std::int64_t first = corner[0][last] + tap[last];
      if (one_row && first >= 0 && first + (width - 1) * strides[last] < input[last]) {
        std::int64_t at = 0;
        const bool inside = find(corner[0], tap, last, at);
        const F* from = channel + at * input[last] + first;
        for (std::int64_t column = 0; column < panel_width; ++column)
          panel[column] = inside ? from[column * strides[last]] : F(0);
        continue;
      }
      for (std::int64_t column = 0; column < panel_width; ++column) {
        std::int64_t at = 0;
        panel[column] = column < width && find(corner[column], tap, rank, at) ? channel[at] : F(0);
      }
    }
  }

  // Whether a kernel position of the window at `corner` lies inside of the picture in the first `dims`
  // dimensions; `at` is then its place there.
  bool find(const std::int64_t* corner, const std::int64_t* tap, std::size_t dims, std::int64_t& at) const {
    for (std::size_t d = 0; d < dims; ++d) {
      const std::int64_t i = corner[d] + tap[d];
      if (i < 0 || i >= input[d]) return false;
      at = at * input[d] + i;
    }
    return true;
  }
};

}  // namespace kforge

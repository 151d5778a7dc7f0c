// Panels of b from the padded copy of an image, whose columns lie in rows of the image.
#pragma once

#include "smith/kernels/contraction/config.h"

namespace {

// One panel: out[k][j] for its columns j, from step first_k on. Most vectors lie in one row of the image; one
// that ends in the next row is put together from both. Behind the last column there is more of it.
template <class P>
__attribute__((noinline)) void pack_image_panel(const float* staged, long panel, long first_k, long steps,
                                                float* out) {
  const auto depth = [&](long step) {
    if constexpr (P::kOffsetTable)
      return kDepthOffsets<P>.at[first_k + step];
    else
      return P::b_depth(first_k + step);
  };
  for (int v = 0; v < P::kVectors; ++v) {
    long at[kLanes];
    for (int j = 0; j < kLanes; ++j) {
      const long column = panel * P::kTileN + v * kLanes + j;
      at[j] = P::b_side(column < P::kN ? column : P::kN - 1);
    }
    int split = 1;  // lanes of the first row
    while (split < kLanes && at[split] == at[0] + split) ++split;
    int lanes = split;  // of two rows
    while (lanes < kLanes && at[lanes] == at[split] + lanes - split) ++lanes;
    const long last = at[kLanes - 1];
    const float* const first_row = staged + at[0];
    float* const to = out + v * kLanes;
    if (split == kLanes) {
      for (long step = 0; step < steps; ++step)
        store(to + step * P::kTileN, load<Vec>(first_row + depth(step)));
    } else if (lanes == kLanes && last >= kLanes - 1) {
      const float* const second_row = staged + last - (kLanes - 1);
      Vec second;
      for (int j = 0; j < kLanes; ++j) second[j] = j < split ? 0.0f : 1.0f;
      for (long step = 0; step < steps; ++step)
        store(to + step * P::kTileN,
              pick(second > 0.0f, load<Vec>(second_row + depth(step)), load<Vec>(first_row + depth(step))));
    } else {
      for (long step = 0; step < steps; ++step)
        for (int j = 0; j < kLanes; ++j) to[step * P::kTileN + j] = staged[at[j] + depth(step)];
    }
  }
}

}  // namespace

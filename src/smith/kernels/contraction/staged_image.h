// The padded copy of an image that convolutions read in place: [channel][depth][height][phase][width], where
// columns of one phase of the column stride lie together.
#pragma once

#include <cstring>

#include "smith/kernels/vectors/vectors.h"

namespace {

template <class P>
struct StagedImage {
  // One channel into a copy whose padding is zeros already.
  static SMITH_INLINE void copy_inside(const float* x, float* staged) {
    static_assert(P::kPhases == 1 && P::kPadD >= 0 && P::kPadH >= 0 && P::kPadW >= 0);
    constexpr long depth = P::kInD < P::kStagedD - P::kPadD ? P::kInD : P::kStagedD - P::kPadD;
    constexpr long height = P::kInH < P::kStagedH - P::kPadH ? P::kInH : P::kStagedH - P::kPadH;
    constexpr long width = P::kInW < P::kStagedW - P::kPadW ? P::kInW : P::kStagedW - P::kPadW;
    for (long d = 0; d < depth; ++d)
      for (long h = 0; h < height; ++h)
        std::memcpy(staged + (d + P::kPadD) * P::kPlaneStride + (h + P::kPadH) * P::kRowStride + P::kPadW,
                    x + (d * P::kInH + h) * P::kInW, width * sizeof(float));
  }

  // Channels [first, last) of one image, so that threads can share the work.
  static __attribute__((noinline)) void copy(const float* x, long item, long first, long last,
                                             float* staged) {
    for (long channel = first; channel < last; ++channel)
      for (long d = 0; d < P::kStagedD; ++d)
        for (long h = 0; h < P::kStagedH; ++h) {
          float* const row = staged + channel * P::kChannelStride + d * P::kPlaneStride + h * P::kRowStride;
          const long from_d = d - P::kPadD, from_h = h - P::kPadH;
          if (from_d < 0 || from_d >= P::kInD || from_h < 0 || from_h >= P::kInH)
            std::memset(row, 0, P::kRowStride * sizeof(float));
          else
            copy_row(x + (((item * P::kChannels + channel) * P::kInD + from_d) * P::kInH + from_h) * P::kInW,
                     row);
        }
  }

 private:
  static SMITH_INLINE void copy_row(const float* source, float* row) {
    if constexpr (P::kPhases == 1) {
      // Zeros in front, the row (its part that is used), zeros behind.
      constexpr long first = P::kPadW > 0 ? P::kPadW : 0, from = P::kPadW < 0 ? -P::kPadW : 0;
      constexpr long count = P::kInW - from < P::kStagedW - first ? P::kInW - from : P::kStagedW - first;
      for (long w = 0; w < first; ++w) row[w] = 0;
      if constexpr (count > 0) std::memcpy(row + first, source + from, count * sizeof(float));
      for (long w = first + (count > 0 ? count : 0); w < P::kStagedW; ++w) row[w] = 0;
    } else {
      // Columns of one phase side by side; zeros where there is no column.
      for (long phase = 0; phase < P::kPhases; ++phase) {
        float* const part = row + phase * P::kStagedW;
        const long at = phase - P::kPadW;  // column w is source[w * kPhases + at]
        const long first = at < 0 ? (-at + P::kPhases - 1) / P::kPhases : 0;
        long last = P::kInW > at ? (P::kInW - at + P::kPhases - 1) / P::kPhases : 0;
        if (last > P::kStagedW) last = P::kStagedW;
        if (last < first) last = first;
        for (long w = 0; w < first; ++w) part[w] = 0;
        for (long w = first; w < last; ++w) part[w] = source[w * P::kPhases + at];
        for (long w = last; w < P::kStagedW; ++w) part[w] = 0;
      }
    }
  }
};

}  // namespace

// A depthwise convolution does few operations on each value it reads: memory is its limit. Planes are read
// where they lie (or, with padding or a stride, through a copy that stays in L2), each output row is summed
// tap by tap into a line in L1, and lines leave as one stream over the whole plane, so that non-temporal
// stores need no rows of a round width.
#pragma once

#include <omp.h>

#include <cstring>

#include "smith/kernels/contraction/staged_image.h"
#include "smith/kernels/contraction/tile.h"
#include "smith/kernels/memory/stream.h"

namespace {

template <class P>
struct Depthwise {
  using Tensors = typename P::Tensors;

  // Called by every thread of a team of at most kThreads.
  static void work(const Tensors& t, const float*, float* scratch) {
    float* const line = scratch + omp_get_thread_num() * P::kPerThread;
#pragma omp for schedule(dynamic) collapse(2)
    for (long batch = 0; batch < P::kPlanes; ++batch)
      for (long first_row = 0; first_row < P::kOutRows; first_row += P::kPieceRows) {
        const long last_row =
            first_row + P::kPieceRows < P::kOutRows ? first_row + P::kPieceRows : P::kOutRows;
        const float* plane = P::x(t) + batch * P::kInputPlane;
        if constexpr (P::kStaged) {
          float* const staged = line + P::kOwnStaged;
          StagedImage<P>::copy(P::x(t), batch, 0, P::kChannels, staged);
          plane = staged;
        }
        for (long filter = 0; filter < P::kFilters; ++filter)
          filter_rows(t, batch, filter, first_row, last_row, plane, line);
      }
    if constexpr (P::kStream) stream_end();  // each thread makes its own non-temporal stores visible
  }

 private:
  static constexpr int kGroupVectors = 4;  // sums of a row that are in registers at once

  // Where a tap lies, from the first one of an output.
  static constexpr long tap_offset(long tap) {
    const long w = tap % P::kTapsW * P::kDilationW;
    return tap / (P::kTapsH * P::kTapsW) * P::kDilationD * P::kPlaneStride +
           tap / P::kTapsW % P::kTapsH * P::kDilationH * P::kRowStride + w % P::kPhases * P::kStagedW +
           w / P::kPhases;
  }

  // Few taps are broadcast once for all rows of a plane, and stay in registers.
  static constexpr bool kHeld = P::kTaps <= 9;
  struct Weights {
    const float* w;
    Vec held[kHeld ? P::kTaps : 1];
    explicit Weights(const float* weights) : w(weights) {
      if constexpr (kHeld)
#pragma GCC unroll 16
        for (long tap = 0; tap < P::kTaps; ++tap) held[tap] = set<Vec>(w[tap]);
    }
    SMITH_INLINE Vec at(long tap) const {
      if constexpr (kHeld)
        return held[tap];
      else
        return set<Vec>(w[tap]);
    }
  };

  // `vectors` neighbouring vectors of an output row.
  template <int vectors>
  static SMITH_INLINE void filter_vectors(const float* in, const Weights& w, float* out) {
    Vec sum[vectors];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[v] = Vec{};
#pragma GCC unroll 64
    for (long tap = 0; tap < P::kTaps; ++tap)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) sum[v] += w.at(tap) * load<Vec>(in + tap_offset(tap) + v * kLanes);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) store(out + v * kLanes, sum[v]);
  }

  // A row narrower than a vector is one all the same: what lies behind its end is overwritten by the next
  // row. REQUIRES: a vector behind the last row can be read and written.
  static SMITH_INLINE void filter_row(const float* in, const Weights& w, float* out) {
    if constexpr (P::kOutW < kLanes) {
      static_assert(P::kStaged, "narrow rows are read past their ends");
      filter_vectors<1>(in, w, out);
    } else {
      long j = 0;
      for (; j + kGroupVectors * kLanes <= P::kOutW; j += kGroupVectors * kLanes)
        filter_vectors<kGroupVectors>(in + j, w, out + j);
      for (; j + kLanes <= P::kOutW; j += kLanes) filter_vectors<1>(in + j, w, out + j);
      // The last vector begins earlier and does a few columns again, so that nothing behind the row is read.
      if constexpr (P::kOutW % kLanes != 0)
        filter_vectors<1>(in + P::kOutW - kLanes, w, out + P::kOutW - kLanes);
    }
  }

  // Output rows [first_row, last_row) of one plane; `line` holds what is not yet stored.
  static __attribute__((noinline)) void filter_rows(const Tensors& t, long batch, long filter, long first_row,
                                                    long last_row, const float* plane, float* line) {
    const Weights w(P::w(t) + (batch % P::kGroups * P::kFilters + filter) * P::kTaps);
    const auto in = [&](long row) {
      return plane + row / P::kOutH * P::kStrideD * P::kPlaneStride +
             row % P::kOutH * P::kStrideH * P::kRowStride;
    };
    if constexpr (!P::kStream) {
      // Several rows are finished together: one after the other, each would end in elements of less than a
      // vector.
      for (long row = first_row; row < last_row; row += P::kRowsAtOnce) {
        const long rows = last_row - row < P::kRowsAtOnce ? last_row - row : P::kRowsAtOnce;
        for (long i = 0; i < rows; ++i) filter_row(in(row + i), w, line + i * P::kOutW);
        finish_tile<P>(t, batch, filter, row * P::kOutW, line, 0, 1, rows * P::kOutW);
      }
    } else {
      long stored = first_row * P::kOutW, held = 0;  // pixels of the plane that are done; in the line
      // Up to the first aligned pixel, one by one.
      long wanted =
          (kLanes - ((batch * P::kFilters + filter) * P::kOutRows * P::kOutW + stored) % kLanes) % kLanes;
      for (long row = first_row; row < last_row; ++row) {
        filter_row(in(row), w, line + held);
        held += P::kOutW;
        const bool last = row + 1 == last_row;
        if (held < P::kRowsAtOnce * P::kOutW && !last) continue;
        long from = 0;
        if (wanted > 0 && wanted <= held) {
          finish_tile<P>(t, batch, filter, stored, line, 0, 1, wanted);
          from = wanted, wanted = 0;
        }
        if (wanted > 0 && !last) continue;
        const long until = last ? held : from + (held - from) / kLanes * kLanes;
        finish_tile<P>(t, batch, filter, stored + from, line + from, 0, 1, until - from);
        std::memmove(line, line + until, (held - until) * sizeof(float));
        stored += until, held -= until;
      }
    }
  }
};

}  // namespace

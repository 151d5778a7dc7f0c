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
    if constexpr (P::kPlanesAtOnce > 1) return small_planes(t, line);
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

  // Small planes, some together: all are copied, then all filtered, then all finished. A vector that is
  // loaded right after parts of it were stored waits for them; for a single plane that is most of the time.
  static SMITH_INLINE void small_planes(const Tensors& t, float* own) {
    float *const lines = own, *const staged = own + P::kOwnStaged;
    // Padding is cleared once where every copy leaves it alone.
    constexpr bool inside = P::kPhases == 1 && P::kPadD >= 0 && P::kPadH >= 0 && P::kPadW >= 0;
    if constexpr (inside) std::memset(staged, 0, P::kPlanesAtOnce * P::kStagedFloats * sizeof(float));
#pragma omp for schedule(dynamic)
    for (long first = 0; first < P::kPlanes; first += P::kPlanesAtOnce) {
      const long last = first + P::kPlanesAtOnce < P::kPlanes ? first + P::kPlanesAtOnce : P::kPlanes;
      for (long plane = first; plane < last; ++plane) {
        float* const copy = staged + (plane - first) * P::kStagedFloats;
        if constexpr (inside)
          StagedImage<P>::copy_inside(P::x(t) + plane * P::kInputPlane, copy);
        else
          StagedImage<P>::copy(P::x(t), plane, 0, 1, copy);
      }
      for (long filter = 0; filter < P::kFilters; ++filter) {
        for (long plane = first; plane < last; ++plane)
          filter_plane(t, plane, filter, staged + (plane - first) * P::kStagedFloats,
                       lines + (plane - first) * P::kLineFloats);
        for (long plane = first; plane < last; ++plane)
          finish_tile<P>(t, plane, filter, 0, lines + (plane - first) * P::kLineFloats, 0, 1,
                         P::kOutRows * P::kOutW);
      }
    }
  }

  // All rows of one plane, not finished.
  static __attribute__((noinline)) void filter_plane(const Tensors& t, long plane, long filter,
                                                     const float* staged, float* line) {
    const Weights w(P::w(t) + (plane % P::kGroups * P::kFilters + filter) * P::kTaps);
    long row = 0;
    if constexpr (kRowsTogether > 1)
      for (; row + kRowsTogether <= P::kOutRows; row += kRowsTogether)
        filter_row<kRowsTogether>(input_row(staged, row), w, line + row * P::kOutW);
    for (; row < P::kOutRows; ++row) filter_row<1>(input_row(staged, row), w, line + row * P::kOutW);
  }

  static SMITH_INLINE const float* input_row(const float* plane, long row) {
    return plane + row / P::kOutH * P::kStrideD * P::kPlaneStride +
           row % P::kOutH * P::kStrideH * P::kRowStride;
  }

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

  // Output rows whose sums are in registers at once: what is loaded of an input row serves all that it is a
  // tap of.
  static constexpr long kRowsTogether = kHeld && P::kTapsH > 1 &&
                                                P::kTaps == P::kTapsH* P::kTapsW&& P::kStrideH == 1 &&
                                                P::kDilationH == 1 && P::kOutRows == P::kOutH
                                            ? 4
                                            : 1;

  // A vector of each of `rows` neighbouring output rows.
  template <int rows>
  static SMITH_INLINE void filter_column(const float* in, const Weights& w, float* out) {
    Vec sum[rows];
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row) sum[row] = Vec{};
#pragma GCC unroll 16
    for (int i = 0; i < rows + P::kTapsH - 1; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < P::kTapsW; ++j) {
        const Vec x = load<Vec>(in + i * P::kRowStride + tap_offset(j));
#pragma GCC unroll 8
        for (int row = 0; row < rows; ++row)
          if (row <= i && i - row < P::kTapsH) sum[row] += w.at((i - row) * P::kTapsW + j) * x;
      }
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row) store(out + row * P::kOutW, sum[row]);
  }

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
  template <int rows>
  static SMITH_INLINE void filter_row(const float* in, const Weights& w, float* out) {
    if constexpr (P::kOutW < kLanes) {
      static_assert(P::kStaged, "narrow rows are read past their ends");
      if constexpr (rows > 1)
        filter_column<rows>(in, w, out);
      else
        filter_vectors<1>(in, w, out);
    } else if constexpr (rows > 1) {
      for (long j = 0; j + kLanes <= P::kOutW; j += kLanes) filter_column<rows>(in + j, w, out + j);
      if constexpr (P::kOutW % kLanes != 0)
        filter_column<rows>(in + P::kOutW - kLanes, w, out + P::kOutW - kLanes);
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
    if constexpr (!P::kStream) {
      // Several rows are finished together: one after the other, each would end in elements of less than a
      // vector.
      for (long row = first_row; row < last_row; row += P::kRowsAtOnce) {
        const long rows = last_row - row < P::kRowsAtOnce ? last_row - row : P::kRowsAtOnce;
        long i = 0;
        if constexpr (kRowsTogether > 1)
          for (; i + kRowsTogether <= rows; i += kRowsTogether)
            filter_row<kRowsTogether>(input_row(plane, row + i), w, line + i * P::kOutW);
        for (; i < rows; ++i) filter_row<1>(input_row(plane, row + i), w, line + i * P::kOutW);
        finish_tile<P>(t, batch, filter, row * P::kOutW, line, 0, 1, rows * P::kOutW);
      }
    } else {
      long stored = first_row * P::kOutW, held = 0;  // pixels of the plane that are done; in the line
      // Up to the first aligned pixel, one by one.
      long wanted =
          (kLanes - ((batch * P::kFilters + filter) * P::kOutRows * P::kOutW + stored) % kLanes) % kLanes;
      for (long row = first_row; row < last_row; ++row) {
        filter_row<1>(input_row(plane, row), w, line + held);
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

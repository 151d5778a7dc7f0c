// Rows become columns.
#pragma once

#include "smith/kernels/memory/stream.h"
#include "smith/kernels/vectors/shuffle.h"

namespace {

// A square of kLanes x kLanes in registers: neighbours at distance 1, 2, 4, ... exchange halves.
template <int D = 1>
SMITH_INLINE void transpose_square(Vec (&v)[kLanes]) {
  if constexpr (D < kLanes) {
#pragma GCC unroll 16
    for (int k = 0; k < kLanes; ++k) {
      if (k & D) continue;
      const Vec a = v[k], b = v[k + D];
      v[k] = shuffled<[](int i) { return i & D ? int(kLanes) + i - D : i; }>(a, b);
      v[k + D] = shuffled<[](int i) { return i & D ? int(kLanes) + i : i + D; }>(a, b);
    }
    transpose_square<2 * D>(v);
  }
}
// y[i * ys + j] = x[j * xs + i] for i < n and j < m. Two squares side by side fill whole cache lines of y;
// kStream: with non-temporal stores.
template <bool kStream>
SMITH_INLINE void transpose(float* y, long ys, const float* x, long xs, long n, long m) {
  const long whole_n = n / kLanes * kLanes, whole_m = m / (2 * kLanes) * (2 * kLanes);
  for (long j = 0; j < whole_m; j += 2 * kLanes)
    for (long i = 0; i < whole_n; i += kLanes) {
      Vec low[kLanes], high[kLanes];
      for (int k = 0; k < kLanes; ++k) low[k] = load<Vec>(x + (j + k) * xs + i);
      transpose_square(low);
      for (int k = 0; k < kLanes; ++k) high[k] = load<Vec>(x + (j + kLanes + k) * xs + i);
      transpose_square(high);
      for (int k = 0; k < kLanes; ++k) {
        float* const p = y + (i + k) * ys + j;
        if constexpr (kStream)
          stream(p, low[k]), stream(p + kLanes, high[k]);
        else
          store(p, low[k]), store(p + kLanes, high[k]);
      }
    }
  for (long i = 0; i < n; ++i)
    for (long j = i < whole_n ? whole_m : 0; j < m; ++j) y[i * ys + j] = x[j * xs + i];
}

}  // namespace

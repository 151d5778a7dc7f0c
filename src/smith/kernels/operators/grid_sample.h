// Planes sampled at given points.
#pragma once

#include <algorithm>
#include <cmath>

namespace {

enum class Sampling { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

// What lies beyond an edge comes back as in a mirror.
template <class T>
inline T reflected(T x, T low, T high) {
  const T range = high - low;
  if (range <= 0) return low;
  const T far = std::fmod(std::fabs(x - low), 2 * range);
  return low + (far > range ? 2 * range - far : far);
}

// y[n][c][point] from x[n][c][height][width] at grid[n][point] = (column, row), both between -1 and 1. Called
// by every thread of a team.
template <class T, Sampling kSampling, Padding kPadding, bool kAlign, long kN, long kC, long kHeight,
          long kWidth, long kPoints>
inline void grid_sample(const T* x, const T* grid, T* y) {
  const auto mirrored_in = [](T p, long size) {
    return kAlign ? reflected<T>(p, 0, T(size - 1)) : reflected<T>(p, T(-0.5), T(size) - T(0.5));
  };
  const auto place = [&](T g, long size) -> T {
    const T p = kAlign ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
    if constexpr (kPadding == Padding::kBorder) return p < 0 ? 0 : p > size - 1 ? T(size - 1) : p;
    if constexpr (kPadding == Padding::kReflection) return mirrored_in(p, size);
    return p;
  };
  const auto inside = [&](long at, long size) -> long {
    if constexpr (kPadding == Padding::kReflection)
      return std::min(std::max((long)std::nearbyint(mirrored_in(T(at), size)), 0L), size - 1);
    return at < 0 ? 0 : at >= size ? size - 1 : at;
  };
  const auto cubic = [](T t, int k) -> T {
    const T a = T(-0.75), d = std::fabs(t + 1 - k);
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  };
#pragma omp for schedule(static)
  for (long i = 0; i < kN * kC * kPoints; ++i) {
    const T* const point = grid + (i / kPoints / kC * kPoints + i % kPoints) * 2;
    const T* const plane = x + i / kPoints * kHeight * kWidth;
    const auto pixel = [&](long row, long column) -> T {
      if constexpr (kPadding == Padding::kZeros)
        if (row < 0 || column < 0 || row >= kHeight || column >= kWidth) return 0;
      return plane[inside(row, kHeight) * kWidth + inside(column, kWidth)];
    };
    const T at_y = place(point[1], kHeight), at_x = place(point[0], kWidth);
    if constexpr (kSampling == Sampling::kNearest) {
      y[i] = pixel((long)std::nearbyint(at_y), (long)std::nearbyint(at_x));
      continue;
    }
    const long top = (long)std::floor(at_y), left = (long)std::floor(at_x);
    const T v = at_y - (T)top, u = at_x - (T)left;
    if constexpr (kSampling == Sampling::kLinear) {
      y[i] = (1 - v) * ((1 - u) * pixel(top, left) + u * pixel(top, left + 1)) +
             v * ((1 - u) * pixel(top + 1, left) + u * pixel(top + 1, left + 1));
    } else {
      T sum = 0;
      for (int j = 0; j < 4; ++j)
        for (int k = 0; k < 4; ++k) sum += cubic(v, j) * cubic(u, k) * pixel(top - 1 + j, left - 1 + k);
      y[i] = sum;
    }
  }
}

}  // namespace

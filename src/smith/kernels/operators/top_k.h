// The k best along an axis.
#pragma once

#include <cstdint>

namespace {

// x[outer][length][inner] to values and indices [outer][k][inner]: best first, equal ones in the order of
// their indices; NaN is larger than numbers. A sorted list of k is kept; blocks in which nothing beats its
// last entry are passed over by one test, which the compiler makes of vectors. Called by every thread of a
// team.
template <class T, long kOuter, long kLength, long kInner, long kK, bool kLargest>
inline void top_k(const T* x, T* values, int64_t* indices) {
  const auto better = [](T a, T b) {  // strictly
    return kLargest ? a > b || (a != a && b == b) : a < b || (b != b && a == a);
  };
#pragma omp for schedule(static)
  for (long column = 0; column < kOuter * kInner; ++column) {
    const T* const from = x + column / kInner * kLength * kInner + column % kInner;
    T best[kK + 1];
    int64_t where[kK + 1];
    long kept = 0;
    const auto consider = [&](long i) {
      const T value = from[i * kInner];
      if (kept == kK && !better(value, best[kept - 1])) return;
      long at = kept < kK ? kept++ : kept - 1;
      for (; at > 0 && better(value, best[at - 1]); --at) best[at] = best[at - 1], where[at] = where[at - 1];
      best[at] = value;
      where[at] = i;
    };
    constexpr long block = 64;
    long i = 0;
    for (; i < kLength && kept < kK; ++i) consider(i);
    for (; i + block <= kLength; i += block) {
      const T last = best[kept - 1];
      int any = 0;
      for (long j = 0; j < block; ++j) {
        const T value = from[(i + j) * kInner];
        any |= kLargest ? !(value <= last) : !(value >= last);
      }
      if (any)
        for (long j = 0; j < block; ++j) consider(i + j);
    }
    for (; i < kLength; ++i) consider(i);
    const long to = column / kInner * kK * kInner + column % kInner;
    for (long r = 0; r < kK; ++r) {
      values[to + r * kInner] = best[r];
      indices[to + r * kInner] = where[r];
    }
  }
}

}  // namespace

// Partial results of a reduction: U vectors and one element, combined at the end in a fixed order.
#pragma once

#include "smith/kernels/vectors/extrema.h"
#include "smith/kernels/vectors/vectors.h"

namespace {

struct Plus {
  template <class F>
  static SMITH_INLINE F of(F a, F b) {
    return a + b;
  }
};
struct Times {
  template <class F>
  static SMITH_INLINE F of(F a, F b) {
    return a * b;
  }
};
struct Larger {
  template <class F>
  static SMITH_INLINE F of(F a, F b) {
    return maximum(a, b);
  }
};
struct Smaller {
  template <class F>
  static SMITH_INLINE F of(F a, F b) {
    return minimum(a, b);
  }
};
template <class How, int U>
struct Partial {
  Vec v[U];
  float s;
  SMITH_INLINE explicit Partial(float neutral) : s(neutral) {
    for (Vec& x : v) x = set<Vec>(neutral);
  }
  template <class L>
  SMITH_INLINE void take(L, Vec x) {
    v[L::u] = How::of(v[L::u], x);
  }
  template <class L>
  SMITH_INLINE void take(L, float x) {
    s = How::of(s, x);
  }
  SMITH_INLINE float result() const {
    Vec all = v[0];
    for (int u = 1; u < U; ++u) all = How::of(all, v[u]);
    float lanes[kLanes];
    store(lanes, all);
    for (long n = kLanes / 2; n > 0; n /= 2)
      for (long i = 0; i < n; ++i) lanes[i] = How::of(lanes[i], lanes[i + n]);
    return How::of(lanes[0], s);
  }
};

}  // namespace

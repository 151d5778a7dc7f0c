// Partial results of a reduction: U vectors and one element, combined at the end in a fixed order.
#pragma once

#include "smith/kernels/vectors/extrema.h"
#include "smith/kernels/vectors/shuffle.h"
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
// All lanes of a vector as one: its halves are combined until one lane is left.
template <int kApart>
constexpr int lane_apart(int i) {
  return (i + kApart) % int(kLanes);
}
template <class How, int kApart = int(kLanes) / 2>
SMITH_INLINE float across(Vec v) {
  v = How::of(v, shuffled<lane_apart<kApart>>(v, v));
  if constexpr (kApart > 1)
    return across<How, kApart / 2>(v);
  else
    return v[0];
}

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

// Loops along vectors.
#pragma once

#include <utility>

#include "smith/kernels/vectors/vectors.h"

namespace {

// Which of the vectors of one step a body works on (u), and its type.
template <class T, int U>
struct Lane {
  using F = T;
  static constexpr int u = U;
};
template <class Body, int... u>
SMITH_INLINE void some_vectors(Body& body, long i, std::integer_sequence<int, u...>) {
  (body(Lane<Vec, u>(), i + u * kLanes), ...);
}
// body(lane, i) for i = 0, kLanes, ...: U vectors at a time, then one, then single elements; or, where an
// element may be done twice, a last vector that begins earlier.
template <int U, bool kAgain = false, class Body>
SMITH_INLINE void along(long n, Body body) {
  long i = 0;
  for (; i + U * kLanes <= n; i += U * kLanes) some_vectors(body, i, std::make_integer_sequence<int, U>());
  if constexpr (U > 1)
    for (; i + kLanes <= n; i += kLanes) body(Lane<Vec, 0>(), i);
  if (kAgain && i < n && n >= kLanes) return body(Lane<Vec, 0>(), n - kLanes);
  // From the last whole vector on, said so that the compiler sees how few there can be.
  for (i = n - n % kLanes; i < n; ++i) body(Lane<float, 0>(), i);
}

}  // namespace

// Hyperbolic tangent.
#pragma once

#include "smith/kernels/math/bits.h"
#include "smith/kernels/math/exp_parts.h"

namespace {

// m / (m + 2) with m = exp(2 |x|) - 1.
template <class F>
SMITH_INLINE F tanh_of(F x) {
  const ExpParts<F> e = exp_parts<127>(at_most(magnitude(x), 10.0f) * 2.0f);
  const F scale = power_of_two<F>(e.biased), m = scale * e.m + (scale - 1.0f);
  return with_sign_of(m / (m + 2.0f), x);
}

}  // namespace

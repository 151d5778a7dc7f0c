// The distribution function of the normal distribution.
#pragma once

#include "smith/kernels/math/bits.h"
#include "smith/kernels/math/exp_low.h"

namespace {

// Of the normal distribution: below zero exp(-x^2 / 2) times a quotient without cancellation, so that tails
// keep their digits; above, one less that.
template <class F>
SMITH_INLINE F normal_cdf(F x) {
  const F a = at_most(magnitude(x), 14.6f);
  F p = a * 4.123819715e-3f + 4.068371881e-2f;
  p = p * a + 1.833847497e-1f;
  p = p * a + 4.384966280e-1f;
  p = p * a + 0.5f;
  F q = a * 1.033676504e-2f + 1.019853385e-1f;
  q = q * a + 4.698656431e-1f;
  q = q * a + 1.203124146f;
  q = q * a + 1.674878242f;
  q = q * a + 1.0f;
  const F tail = exp_low(a * a * -0.5f) * (p / q);
  return pick(x < 0.0f, tail, 1.0f - tail);
}

}  // namespace

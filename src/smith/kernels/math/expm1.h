// exp(x) - 1.
#pragma once

#include "smith/kernels/math/bits.h"
#include "smith/kernels/math/exp_parts.h"

namespace {

template <class F>
SMITH_INLINE F expm1_of(F x) {
  const ExpParts<F> e = exp_parts<126>(at_most(at_least(x, -30.0f), 89.0f));
  const F half = power_of_two<F>(e.biased);  // of 2^n: 2^127 at most
  const F y = (half * e.m + (half - 0.5f)) * 2.0f;
  return pick(magnitude(x) < 1e-30f, x, y);
}

}  // namespace

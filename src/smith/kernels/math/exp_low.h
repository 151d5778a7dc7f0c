// exp for arguments up to 60: softmax, sigmoid.
#pragma once

#include "smith/kernels/math/exp_parts.h"

namespace {

// exp(x) for x <= 60. The last step alone may give a denormal.
template <class F>
SMITH_INLINE F exp_low(F x) {
  const ExpParts<F> e = exp_parts<127 + 24>(at_least(x, -104.5f));  // 0 beyond
  const F scale = power_of_two<F>(e.biased);
  return (scale * e.m + scale) * 5.9604644775390625e-8f;  // 2^-24
}

}  // namespace

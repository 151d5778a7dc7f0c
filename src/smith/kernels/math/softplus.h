// log(1 + exp(x)).
#pragma once

#include "smith/kernels/math/bits.h"
#include "smith/kernels/math/exp_low.h"
#include "smith/kernels/vectors/extrema.h"

namespace {

// max(x, 0) + log(1 + e), e = exp(-|x|): between 0 and 1 the logarithm is e times a quotient.
template <class F>
SMITH_INLINE F softplus_of(F x) {
  const F e = exp_low(negative_magnitude(x));
  F p = e * 3.417285553e-3f + 2.381576446e-1f;
  p = p * e + 1.066218669f;
  p = p * e + 1.0f;
  F q = e * 7.528733077e-2f + 6.879365072e-1f;
  q = q * e + 1.566218538f;
  q = q * e + 1.0f;
  return upper(x, set<F>(0.0f)) + e * (p / q);
}

}  // namespace

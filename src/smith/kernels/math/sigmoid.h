// 1 / (1 + exp(-x)).
#pragma once

#include "smith/kernels/math/bits.h"
#include "smith/kernels/math/exp_low.h"

namespace {

template <class F>
SMITH_INLINE F sigmoid_of(F x) {
  const F e = exp_low(negative_magnitude(x));
  return pick(x >= 0.0f, set<F>(1.0f), e) / (e + 1.0f);
}

}  // namespace

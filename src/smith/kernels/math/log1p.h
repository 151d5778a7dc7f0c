// log(1 + x).
#pragma once

#include "smith/kernels/math/log.h"

namespace {

template <class F>
SMITH_INLINE F log1p_of(F x) {
  const F u = x + 1.0f;
  const F d = u - 1.0f;  // what of x arrived in u
  const F r = log_of(u) * (x / pick(d == 0.0f, set<F>(1.0f), d));
  return pick(d == 0.0f, x, pick(u < __builtin_inff(), r, log_of(u)));
}

}  // namespace

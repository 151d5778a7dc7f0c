// Natural logarithm.
#pragma once

#include "smith/kernels/vectors/vectors.h"

namespace {

template <class F>
SMITH_INLINE F log_of(F x) {
  const auto tiny = x < 1.17549435e-38f;  // denormals are brought into range
  const F y = pick(tiny, x * 8388608.0f, x);
  const Int<F> bits = __builtin_bit_cast(Int<F>, y);
  const Int<F> shifted = bits - 0x3f3504f3;  // mantissa between sqrt(1/2) and sqrt(2)
  F e;
  if constexpr (sizeof(F) == 4)
    e = float(shifted >> 23);
  else
    e = __builtin_convertvector(shifted >> 23, F);
  e = pick(tiny, e - 23.0f, e);
  const F f = __builtin_bit_cast(F, (shifted & 0x007fffff) + 0x3f3504f3) - 1.0f;
  const F z = f * f;
  F p = f * 7.0376836292e-2f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  F r = f * z * p - 2.12194440e-4f * e;
  r = r - 0.5f * z;
  r = (f + r) + 0.693359375f * e;
  const float infinity = __builtin_inff();
  r = pick(x == 0.0f, set<F>(-infinity), r);
  r = pick(x < 0.0f, set<F>(__builtin_nanf("")), r);
  return pick(!(x < infinity), x, r);  // infinity and NaN
}

}  // namespace

// The error function and its complement.
#pragma once

#include "smith/kernels/math/bits.h"
#include "smith/kernels/math/exp_parts.h"
#include "smith/kernels/vectors/vectors.h"

namespace {

// erf for |x| < 0.94.
template <class F>
SMITH_INLINE F erf_small(F x) {
  const F z = x * x;
  F p = z * 8.21278053e-5f - 8.10505451e-4f;
  p = p * z + 5.19768491e-3f;
  p = p * z - 2.68580425e-2f;
  p = p * z + 1.12836710e-1f;
  p = p * z - 3.76126322e-1f;
  p = p * z + 1.12837917f;
  return p * x;
}

// exp(-a^2) times a polynomial in (a - 2) / (a + 2), for a = |x|; a^2 is taken exactly, in two parts.
template <class F>
SMITH_INLINE F erfc_of(F x) {
  const F a = at_most(magnitude(x), 10.1f);
  const F q = (a - 2.0f) / (a + 2.0f);
  F p = q * 8.29498530e-5f + 1.75997835e-4f;
  p = p * q - 4.01850422e-4f;
  p = p * q - 1.42829469e-3f;
  p = p * q + 1.25122796e-3f;
  p = p * q + 8.71211838e-3f;
  p = p * q - 8.03004981e-3f;
  p = p * q - 5.42183374e-2f;
  p = p * q + 1.64050916e-1f;
  p = p * q - 1.66030490e-1f;
  p = p * q - 9.27638161e-2f;
  p = p * q + 1.27697838f;
  const F high = __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, a) & int(0xfffff000));
  const ExpParts<F> e = exp_parts<254>(-high * high, (high - a) * (high + a));
  const F y = scaled(e, p / (a * 2.0f + 1.0f));
  const F far = pick(x < 0.0f, 2.0f - y, y);
  return pick(x != x, x, pick(a < 0.5f, 1.0f - erf_small(x), far));
}

template <class F>
SMITH_INLINE F erf_of(F x) {
  return pick(x * x < 0.88f, erf_small(x), with_sign_of(1.0f - erfc_of(magnitude(x)), x));
}

}  // namespace

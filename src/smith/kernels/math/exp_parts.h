// What every exponential begins with.
#pragma once

#include "smith/kernels/vectors/extrema.h"
#include "smith/kernels/vectors/vectors.h"

namespace {

// exp(x + tail) = 2^n (1 + m): n whole, m = expm1 of what is left, |rest| < 0.35. The low bits of `biased`
// are n + kBias, ready to become the exponent of a float.
template <class F>
struct ExpParts {
  Int<F> biased;
  F m;
};
template <int kBias, class F, class... Tail>
SMITH_INLINE ExpParts<F> exp_parts(F x, Tail... tail) {
  const float magic = 12582912.0f + kBias;  // 1.5 * 2^23: adding it rounds to whole numbers
  const F shifted = x * 1.44269504f + magic;
  const F whole = shifted - magic;
  const F r = (((x - whole * 0.693359375f) + whole * 2.12194440e-4f) + ... + tail);
  F p = r * 1.3950725990e-3f + 8.3690249714e-3f;
  p = p * r + 4.1666202284e-2f;
  p = p * r + 1.6666517711e-1f;
  p = p * r + 5.0000000963e-1f;
  return {__builtin_bit_cast(Int<F>, shifted), p * (r * r) + r};
}
template <class F>
SMITH_INLINE F power_of_two(Int<F> biased) {
  return __builtin_bit_cast(F, biased << 23);
}

// 2^n (y m + y) for parts of bias 254: in two steps, so that results from the smallest denormal to the
// largest number are right.
template <class F>
SMITH_INLINE F scaled(ExpParts<F> e, F y) {
  const Int<F> half = e.biased >> 1;
  const F first = power_of_two<F>(half) * y;
  return (first * e.m + first) * power_of_two<F>(e.biased - half);
}

}  // namespace

// Mathematical functions on vectors, accurate to 4 ulp over the whole range.
#include "smith/emit/prelude_pieces.h"

namespace kforge::smith {

const std::vector<PreludePiece>& functions_pieces() {
  static const std::vector<PreludePiece> all = {
      {"sqrt", {"vectors"}, R"(
SMITH_INLINE float sqrt_of(float x) { return __builtin_sqrtf(x); }
SMITH_INLINE Vec sqrt_of(Vec x) {
#if defined(__AVX512F__)
  return (Vec)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX__)
  return (Vec)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE__)
  return (Vec)_mm_sqrt_ps((__m128)x);
#else
  for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_sqrtf(x[lane]);
  return x;
#endif
}
)"},
      {"magnitude", {"vectors"}, R"(
template <class F> SMITH_INLINE F magnitude(F x) { return __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, x) & 0x7fffffff); }
template <class F> SMITH_INLINE F below_zero(F x) { return __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, x) | int(0x80000000)); }  // -|x|
template <class F> SMITH_INLINE F with_sign_of(F x, F sign) {
  return __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, x) | (__builtin_bit_cast(Int<F>, sign) & int(0x80000000)));
}
)"},
      {"exp_parts", {"vectors", "at_least"}, R"(
// exp(x + tail) = 2^n (1 + m): n whole, m = expm1 of what is left, |rest| < 0.35. The low bits of `biased` are
// n + kBias, ready to become the exponent of a float.
template <class F> struct ExpParts { Int<F> biased; F m; };
template <int kBias, class F, class... Tail> SMITH_INLINE ExpParts<F> exp_parts(F x, Tail... tail) {
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
template <class F> SMITH_INLINE F power_of_two(Int<F> biased) { return __builtin_bit_cast(F, biased << 23); }
)"},
      {"scaled", {"exp_parts"}, R"(
// 2^n (y m + y) for parts of bias 254: in two steps, so that results from the smallest denormal to the largest
// number are right.
template <class F> SMITH_INLINE F scaled(ExpParts<F> e, F y) {
  const Int<F> half = e.biased >> 1;
  const F first = power_of_two<F>(half) * y;
  return (first * e.m + first) * power_of_two<F>(e.biased - half);
}
)"},
      {"exp_low", {"exp_parts"}, R"(
// exp(x) for x <= 60. The last step alone may give a denormal.
template <class F> SMITH_INLINE F exp_low(F x) {
  const ExpParts<F> e = exp_parts<127 + 24>(at_least(x, -104.5f));  // 0 beyond
  const F scale = power_of_two<F>(e.biased);
  return (scale * e.m + scale) * 5.9604644775390625e-8f;  // 2^-24
}
)"},
      {"exp", {"scaled"}, R"(
template <class F> SMITH_INLINE F exp_of(F x) {
  const F cut = at_most(at_least(x, -104.5f), 89.0f);  // 0 and infinity beyond
  return scaled(exp_parts<254>(cut), set<F>(1.0f));
}
)"},
      {"expm1", {"exp_parts", "magnitude"}, R"(
template <class F> SMITH_INLINE F expm1_of(F x) {
  const ExpParts<F> e = exp_parts<126>(at_most(at_least(x, -30.0f), 89.0f));
  const F half = power_of_two<F>(e.biased);  // of 2^n: 2^127 at most
  const F y = (half * e.m + (half - 0.5f)) * 2.0f;
  return pick(magnitude(x) < 1e-30f, x, y);
}
)"},
      {"log", {"vectors"}, R"(
template <class F> SMITH_INLINE F log_of(F x) {
  const auto tiny = x < 1.17549435e-38f;  // denormals are brought into range
  const F y = pick(tiny, x * 8388608.0f, x);
  const Int<F> bits = __builtin_bit_cast(Int<F>, y);
  const Int<F> shifted = bits - 0x3f3504f3;  // mantissa between sqrt(1/2) and sqrt(2)
  F e;
  if constexpr (sizeof(F) == 4) e = float(shifted >> 23); else e = __builtin_convertvector(shifted >> 23, F);
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
)"},
      {"log1p", {"log"}, R"(
template <class F> SMITH_INLINE F log1p_of(F x) {
  const F u = x + 1.0f;
  const F d = u - 1.0f;  // what of x arrived in u
  const F r = log_of(u) * (x / pick(d == 0.0f, set<F>(1.0f), d));
  return pick(d == 0.0f, x, pick(u < __builtin_inff(), r, log_of(u)));
}
)"},
      {"tanh", {"exp_parts", "magnitude"}, R"(
// m / (m + 2) with m = exp(2 |x|) - 1.
template <class F> SMITH_INLINE F tanh_of(F x) {
  const ExpParts<F> e = exp_parts<127>(at_most(magnitude(x), 10.0f) * 2.0f);
  const F scale = power_of_two<F>(e.biased), m = scale * e.m + (scale - 1.0f);
  return with_sign_of(m / (m + 2.0f), x);
}
)"},
      {"sigmoid", {"exp_low", "magnitude"}, R"(
template <class F> SMITH_INLINE F sigmoid_of(F x) {
  const F e = exp_low(below_zero(x));
  return pick(x >= 0.0f, set<F>(1.0f), e) / (e + 1.0f);
}
)"},
      {"softplus", {"exp_low", "magnitude", "upper"}, R"(
// max(x, 0) + log(1 + e), e = exp(-|x|): between 0 and 1 the logarithm is e times a quotient.
template <class F> SMITH_INLINE F softplus_of(F x) {
  const F e = exp_low(below_zero(x));
  F p = e * 3.417285553e-3f + 2.381576446e-1f;
  p = p * e + 1.066218669f;
  p = p * e + 1.0f;
  F q = e * 7.528733077e-2f + 6.879365072e-1f;
  q = q * e + 1.566218538f;
  q = q * e + 1.0f;
  return upper(x, set<F>(0.0f)) + e * (p / q);
}
)"},
      {"erf_small", {"vectors"}, R"(
// erf for |x| < 0.94.
template <class F> SMITH_INLINE F erf_small(F x) {
  const F z = x * x;
  F p = z * 8.21278053e-5f - 8.10505451e-4f;
  p = p * z + 5.19768491e-3f;
  p = p * z - 2.68580425e-2f;
  p = p * z + 1.12836710e-1f;
  p = p * z - 3.76126322e-1f;
  p = p * z + 1.12837917f;
  return p * x;
}
)"},
      {"erfc", {"scaled", "magnitude", "erf_small"}, R"(
// exp(-a^2) times a polynomial in (a - 2) / (a + 2), for a = |x|; a^2 is taken exactly, in two parts.
template <class F> SMITH_INLINE F erfc_of(F x) {
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
)"},
      {"normal_cdf", {"exp_low", "magnitude"}, R"(
// Of the normal distribution: below zero exp(-x^2 / 2) times a quotient without cancellation, so that tails
// keep their digits; above, one less that.
template <class F> SMITH_INLINE F normal_cdf(F x) {
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
)"},
      {"erf", {"erfc"}, R"(
template <class F> SMITH_INLINE F erf_of(F x) {
  return pick(x * x < 0.88f, erf_small(x), with_sign_of(1.0f - erfc_of(magnitude(x)), x));
}
)"},
      {"rounding", {"vectors"}, R"(
template <class F> SMITH_INLINE F floor_of(F x) {
  if constexpr (sizeof(F) == 4) return __builtin_floorf(x);
  else { for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_floorf(x[lane]); return x; }
}
template <class F> SMITH_INLINE F ceil_of(F x) {
  if constexpr (sizeof(F) == 4) return __builtin_ceilf(x);
  else { for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_ceilf(x[lane]); return x; }
}
template <class F> SMITH_INLINE F round_of(F x) {
  if constexpr (sizeof(F) == 4) return __builtin_nearbyintf(x);
  else { for (long lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_nearbyintf(x[lane]); return x; }
}
)"},
  };
  return all;
}

}  // namespace kforge::smith

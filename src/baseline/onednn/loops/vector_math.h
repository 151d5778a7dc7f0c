// Mathematical functions that loops may vectorise: glibc's libmvec has a vector form of each (at most 4 ulp
// off). glibc's own header offers them only under -ffast-math, so they are declared here; files that include
// this must not include <math.h>.
#pragma once

#define KF_SIMD __attribute__((simd("notinbranch"), const, nothrow))

extern "C" {
KF_SIMD float expm1f(float);
KF_SIMD float logf(float);
KF_SIMD float log1pf(float);
KF_SIMD float powf(float, float);
KF_SIMD float erff(float);
KF_SIMD float sinf(float);
KF_SIMD float cosf(float);
KF_SIMD float tanf(float);
KF_SIMD float asinf(float);
KF_SIMD float acosf(float);
KF_SIMD float atanf(float);
KF_SIMD float sinhf(float);
KF_SIMD float coshf(float);
KF_SIMD float asinhf(float);
KF_SIMD float acoshf(float);
KF_SIMD float atanhf(float);
}

namespace kforge::loops {
namespace {

inline float absolute(float x) { return __builtin_fabsf(x); }
inline float square_root(float x) { return __builtin_sqrtf(x); }
// Selects that keep NaN in x, as ONNX's Max, Min and Clip do.
inline float larger(float x, float y) { return x < y ? y : x; }
inline float smaller(float x, float y) { return x > y ? y : x; }

// e^x to about 2 ulp, in straight code that vectorises: x = n ln 2 + r, and a polynomial for e^r. Results
// below the smallest normal number are 0.
inline float exponential(float x) {
  constexpr float kLowest = -87.33f, kHighest = 88.7228f;
  const float bounded = smaller(larger(x, kLowest), kHighest);
  const float n = __builtin_rintf(bounded * 1.44269504f);
  const float r = (bounded - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 0.00138145965f;
  p = p * r + 0.00836871751f;
  p = p * r + 0.041668389f;
  p = p * r + 0.166665211f;
  p = p * r + 0.49999994f;
  p = p * r * r + r + 1.0f;
  // Half of 2^n, so that n = 128 still has a bit pattern; doubling may then reach infinity.
  const float scale = __builtin_bit_cast(float, (static_cast<int>(n) + 126) << 23);
  const float result = p * scale * 2.0f;
  return x > kHighest ? __builtin_inff() : x < kLowest ? 0.0f : result;
}

inline float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }
inline float softplus(float x) { return larger(x, 0.0f) + log1pf(exponential(-absolute(x))); }

// By a polynomial near zero, where 1 - 2 / (e^2x + 1) would cancel.
inline float hyperbolic_tangent(float x) {
  const float u = x * x, size = absolute(x);
  float p = -0.00566078024f;
  p = p * u + 0.020601999f;
  p = p * u - 0.0537292287f;
  p = p * u + 0.133313283f;
  p = p * u - 0.333332777f;
  const float near = x + x * u * p;
  const float far = __builtin_copysignf(1.0f - 2.0f / (exponential(2.0f * size) + 1.0f), x);
  return size < 0.625f ? near : far;
}

// x tanh(softplus(x)) without either: tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2).
inline float mish(float x) {
  const float e = exponential(smaller(x, 20.0f));
  const float n = e * (e + 2.0f);
  return x * (n / (n + 2.0f));
}

}  // namespace
}  // namespace kforge::loops

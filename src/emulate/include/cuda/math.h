// Mathematics as CUDA has it: overloads for float, integers taken as double, the fast variants computed
// precisely.
#pragma once

#include "kforge/libm.h"

// What <math.h> and the CUDA headers have beside the C library's functions.
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
inline bool isnan(float x) { return __builtin_isnan(x); }
inline bool isnan(double x) { return __builtin_isnan(x); }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isinf(double x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }
inline bool isfinite(double x) { return __builtin_isfinite(x); }
inline bool signbit(float x) { return __builtin_signbit(x); }
inline bool signbit(double x) { return __builtin_signbit(x); }

// exp(2), sqrt(n): integers are doubles.
template <bool, class T = double>
struct kfe_if {};
template <class T>
struct kfe_if<true, T> {
  typedef T type;
};
template <class T>
inline constexpr bool kfe_integral = __is_integral(T);
#define KFE_OF_INTEGER(name)                                \
  template <class T>                                        \
  inline typename kfe_if<kfe_integral<T>>::type name(T x) { \
    return name(static_cast<double>(x));                    \
  }
// clang-format off
KFE_OF_INTEGER(acos) KFE_OF_INTEGER(asin) KFE_OF_INTEGER(atan) KFE_OF_INTEGER(ceil) KFE_OF_INTEGER(cos)
KFE_OF_INTEGER(cosh) KFE_OF_INTEGER(exp) KFE_OF_INTEGER(exp2) KFE_OF_INTEGER(fabs) KFE_OF_INTEGER(floor)
KFE_OF_INTEGER(log) KFE_OF_INTEGER(log10) KFE_OF_INTEGER(log2) KFE_OF_INTEGER(round) KFE_OF_INTEGER(sin);
// clang-format on
KFE_OF_INTEGER(sinh) KFE_OF_INTEGER(sqrt) KFE_OF_INTEGER(tan) KFE_OF_INTEGER(tanh) KFE_OF_INTEGER(trunc);
#undef KFE_OF_INTEGER
template <class A, class B>
inline typename kfe_if<!__is_same(A, B) || kfe_integral<A>>::type pow(A a, B b) {
  return pow(static_cast<double>(a), static_cast<double>(b));
}
inline float pow(float a, int b) { return powf(a, static_cast<float>(b)); }

#ifndef INFINITY
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#endif
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

namespace std {
using ::abs, ::acos, ::acosf, ::acosh, ::asin, ::asinh, ::atan, ::atan2, ::atan2f, ::atanh, ::cbrt, ::ceil,
    ::ceilf, ::copysign, ::copysignf, ::cos, ::cosf, ::cosh, ::coshf, ::erf, ::erfc, ::erff, ::exp, ::exp2,
    ::exp2f, ::expf, ::expm1, ::expm1f, ::fabs, ::fabsf, ::fdim, ::floor, ::floorf, ::fma, ::fmaf, ::fmax,
    ::fmaxf, ::fmin, ::fminf, ::fmod, ::fmodf, ::frexp, ::hypot, ::ilogb, ::isfinite, ::isinf, ::isnan,
    ::ldexp, ::lgamma, ::llrint, ::llround, ::log, ::log10, ::log1p, ::log1pf, ::log2, ::log2f, ::logb,
    ::logf, ::lrint, ::lround, ::modf, ::nearbyint, ::nearbyintf, ::pow, ::powf, ::remainder, ::rint, ::rintf,
    ::round, ::roundf, ::scalbn, ::signbit, ::sin, ::sinf, ::sinh, ::sqrt, ::sqrtf, ::tan, ::tanf, ::tanh,
    ::tanhf, ::tgamma, ::trunc, ::truncf;
}  // namespace std

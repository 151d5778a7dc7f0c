// The C library's mathematics, declared without its headers (which take longer to read than most kernels).
#pragma once

#define KFE_LIBM1(name)            \
  extern "C" double name(double);  \
  extern "C" float name##f(float); \
  inline float name(float x) { return name##f(x); }
#define KFE_LIBM2(name)                   \
  extern "C" double name(double, double); \
  extern "C" float name##f(float, float); \
  inline float name(float x, float y) { return name##f(x, y); }

// clang-format off
KFE_LIBM1(acos) KFE_LIBM1(acosh) KFE_LIBM1(asin) KFE_LIBM1(asinh) KFE_LIBM1(atan) KFE_LIBM1(atanh)
KFE_LIBM1(cbrt) KFE_LIBM1(ceil) KFE_LIBM1(cos) KFE_LIBM1(cosh) KFE_LIBM1(erf) KFE_LIBM1(erfc) KFE_LIBM1(exp)
KFE_LIBM1(exp2) KFE_LIBM1(exp10) KFE_LIBM1(expm1) KFE_LIBM1(fabs) KFE_LIBM1(floor) KFE_LIBM1(lgamma)
KFE_LIBM1(log) KFE_LIBM1(log10) KFE_LIBM1(log1p) KFE_LIBM1(log2) KFE_LIBM1(logb) KFE_LIBM1(nearbyint)
KFE_LIBM1(rint) KFE_LIBM1(round) KFE_LIBM1(sin) KFE_LIBM1(sinh) KFE_LIBM1(sqrt) KFE_LIBM1(tan)
KFE_LIBM1(tanh) KFE_LIBM1(tgamma) KFE_LIBM1(trunc) KFE_LIBM1(j0) KFE_LIBM1(j1) KFE_LIBM1(y0) KFE_LIBM1(y1)
KFE_LIBM2(atan2) KFE_LIBM2(copysign) KFE_LIBM2(fdim) KFE_LIBM2(fmax) KFE_LIBM2(fmin) KFE_LIBM2(fmod);
// clang-format on
KFE_LIBM2(hypot) KFE_LIBM2(nextafter) KFE_LIBM2(pow) KFE_LIBM2(remainder);

extern "C" {
double fma(double, double, double);
float fmaf(float, float, float);
double ldexp(double, int);
float ldexpf(float, int);
double scalbn(double, int);
float scalbnf(float, int);
int ilogb(double);
int ilogbf(float);
long lrint(double);
long lrintf(float);
long long llrint(double);
long long llrintf(float);
long lround(double);
long lroundf(float);
long long llround(double);
long long llroundf(float);
int abs(int);
long labs(long);
long long llabs(long long);
void* memcpy(void*, const void*, __SIZE_TYPE__);
void* memmove(void*, const void*, __SIZE_TYPE__);
void* memset(void*, int, __SIZE_TYPE__);
}

// Functions that write through a pointer are not the library's: every store of a kernel is looked at by the
// variants that check.
inline double frexp(double x, int* exponent) {
  const int e = x == 0 || __builtin_isinf(x) || __builtin_isnan(x) ? 0 : ilogb(x) + 1;
  *exponent = e;
  return e ? scalbn(x, -e) : x;
}
inline double modf(double x, double* whole) {
  *whole = trunc(x);
  return copysign(__builtin_isinf(x) ? 0.0 : x - trunc(x), x);
}
inline float frexp(float x, int* exponent) {
  return static_cast<float>(frexp(static_cast<double>(x), exponent));
}
inline float frexpf(float x, int* exponent) { return frexp(x, exponent); }
inline float modf(float x, float* whole) {
  *whole = truncf(x);
  return copysignf(__builtin_isinf(x) ? 0.0f : x - truncf(x), x);
}
inline float modff(float x, float* whole) { return modf(x, whole); }
// What kernels print is nobody's business here.
template <class... Values>
inline int printf(const char*, Values...) {
  return 0;
}

inline float fma(float a, float b, float c) { return fmaf(a, b, c); }
inline float ldexp(float x, int e) { return ldexpf(x, e); }
inline float scalbn(float x, int e) { return scalbnf(x, e); }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
inline long abs(long x) { return labs(x); }
inline long long abs(long long x) { return llabs(x); }

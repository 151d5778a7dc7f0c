// Intrinsic functions: conversions, bits, roundings, loads with a hint. Hints mean nothing here, and what is
// fast and rough on a device is computed precisely.
#pragma once

#include "math.h"
#include "vector_types.h"

// Reinterpretation.
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __hiloint2double(int hi, int lo) {
  return __builtin_bit_cast(
      double, (static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32) | static_cast<unsigned>(lo));
}
inline int __double2hiint(double x) { return static_cast<int>(__builtin_bit_cast(long long, x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__builtin_bit_cast(long long, x)); }

// Conversion saturates, and takes NaN for 0, as the hardware does.
namespace kfe {
template <class To, class From>
inline To saturated(From x) {
  constexpr bool is_signed = static_cast<To>(-1) < static_cast<To>(0);
  constexpr int digits = sizeof(To) * 8 - is_signed;
  constexpr To most = static_cast<To>(~0ull >> (64 - digits));
  constexpr To least = is_signed ? static_cast<To>(-most - 1) : static_cast<To>(0);
  if (x != x) return 0;
  const From power =
      static_cast<From>(2) * static_cast<From>(static_cast<unsigned long long>(1) << (digits - 1));
  if (x >= power) return most;
  if (x < static_cast<From>(least)) return least;
  return static_cast<To>(x);
}
}  // namespace kfe
#define KFE_CONVERT(name, To, From)                                                  \
  inline To __##name##_rn(From x) { return kfe::saturated<To>(__builtin_rint(x)); }  \
  inline To __##name##_rz(From x) { return kfe::saturated<To>(x); }                  \
  inline To __##name##_rd(From x) { return kfe::saturated<To>(__builtin_floor(x)); } \
  inline To __##name##_ru(From x) { return kfe::saturated<To>(__builtin_ceil(x)); }
// clang-format off
KFE_CONVERT(float2int, int, float) KFE_CONVERT(float2uint, unsigned, float)
KFE_CONVERT(float2ll, long long, float) KFE_CONVERT(float2ull, unsigned long long, float)
KFE_CONVERT(double2int, int, double) KFE_CONVERT(double2uint, unsigned, double);
// clang-format on
KFE_CONVERT(double2ll, long long, double);
#undef KFE_CONVERT
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }

// Arithmetic with a rounding in its name (to nearest), and the fast variants.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return expf(x); }
inline float __exp2f(float x) { return exp2f(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float a, float b) { return powf(a, b); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float sinpif(float x) { return sinf(3.14159265358979323846f * x); }
inline float cospif(float x) { return cosf(3.14159265358979323846f * x); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752440f); }
inline float erfcxf(float x) { return expf(x * x) * erfcf(x); }
inline void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
inline void sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }
inline void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }

// min and max of mixed types, as CUDA overloads them.
#define KFE_MIN_MAX(A, B)                                                                 \
  inline auto min(A a, B b) {                                                             \
    typedef decltype(a + b) T;                                                            \
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b); \
  }                                                                                       \
  inline auto max(A a, B b) {                                                             \
    typedef decltype(a + b) T;                                                            \
    return static_cast<T>(a) > static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b); \
  }
// clang-format off
KFE_MIN_MAX(int, int) KFE_MIN_MAX(unsigned, unsigned) KFE_MIN_MAX(int, unsigned) KFE_MIN_MAX(unsigned, int)
KFE_MIN_MAX(long, long) KFE_MIN_MAX(unsigned long, unsigned long) KFE_MIN_MAX(long, int)
KFE_MIN_MAX(int, long) KFE_MIN_MAX(long long, long long) KFE_MIN_MAX(unsigned long long, unsigned long long);
// clang-format on
KFE_MIN_MAX(unsigned long, unsigned) KFE_MIN_MAX(unsigned, unsigned long);
#undef KFE_MIN_MAX
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(double(a), double(b)); }
inline double min(double a, float b) { return fmin(double(a), double(b)); }
inline double max(float a, double b) { return fmax(double(a), double(b)); }
inline double max(double a, float b) { return fmax(double(a), double(b)); }
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }

// Bits.
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
inline unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  const unsigned long long both = (static_cast<unsigned long long>(y) << 32) | x;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i)
    out |= static_cast<unsigned>((both >> (((s >> (4 * i)) & 7) * 8)) & 0xFF) << (8 * i);
  return out;
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  const unsigned long long both = (static_cast<unsigned long long>(hi) << 32) | lo;
  return static_cast<unsigned>((both << (n & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  const unsigned long long both = (static_cast<unsigned long long>(hi) << 32) | lo;
  return static_cast<unsigned>(both >> (n & 31));
}
inline int __mul24(int a, int b) {
  return static_cast<int>((static_cast<long long>(a << 8) >> 8) * (b << 8 >> 8));
}
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
  return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += ((a >> (8 * i)) & 0xFF) * ((b >> (8 * i)) & 0xFF);
  return c;
}

// Loads and stores with a hint for the caches.
#define KFE_LOAD(name)        \
  template <class T>          \
  inline T name(const T* p) { \
    return *p;                \
  }
KFE_LOAD(__ldg) KFE_LOAD(__ldcs) KFE_LOAD(__ldcg) KFE_LOAD(__ldca) KFE_LOAD(__ldlu) KFE_LOAD(__ldcv);
#undef KFE_LOAD
#define KFE_STORE(name)         \
  template <class T, class V>   \
  inline void name(T* p, V v) { \
    *p = v;                     \
  }
KFE_STORE(__stcs) KFE_STORE(__stcg) KFE_STORE(__stwb) KFE_STORE(__stwt);
#undef KFE_STORE
// Addresses of shared memory are offsets in it, as 32 bits must hold them.
inline size_t __cvta_generic_to_shared(const void* p) {
  return static_cast<size_t>(static_cast<const char*>(p) - kfe_shared_arena);
}
inline void* __cvta_shared_to_generic(size_t offset) { return kfe_shared_arena + offset; }
inline bool __isShared(const void* p) {
  const char* at = static_cast<const char*>(p);
  return at >= kfe_shared_arena && at < kfe_shared_arena + (64 << 10) + (228 << 10);
}
inline bool __isGlobal(const void* p) { return !__isShared(p); }

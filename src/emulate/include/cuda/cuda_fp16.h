// __half and __half2: the compiler's own 16-bit float, rounded after every operation.
#pragma once

#include "kforge_small_float.h"

struct __half_raw {
  unsigned short x;
};

struct __attribute__((aligned(2))) __half {
  _Float16 kfe_value;

  __half() = default;
  __half(float x) : kfe_value(static_cast<_Float16>(x)) {}
  __half(double x) : kfe_value(static_cast<_Float16>(x)) {}
  __half(int x) : kfe_value(static_cast<_Float16>(x)) {}
  __half(unsigned x) : kfe_value(static_cast<_Float16>(x)) {}
  __half(short x) : kfe_value(static_cast<_Float16>(x)) {}
  __half(unsigned short x) : kfe_value(static_cast<_Float16>(x)) {}
  __half(long long x) : kfe_value(static_cast<_Float16>(x)) {}
  __half(unsigned long long x) : kfe_value(static_cast<_Float16>(x)) {}
  __half(__half_raw raw) : kfe_value(__builtin_bit_cast(_Float16, raw.x)) {}
  operator float() const { return static_cast<float>(kfe_value); }
  operator __half_raw() const { return {__builtin_bit_cast(unsigned short, kfe_value)}; }
};
typedef __half half;

inline float __half2float(__half x) { return static_cast<float>(x.kfe_value); }
inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline __half __double2half(double x) { return __half(x); }

struct __attribute__((aligned(4))) __half2 {
  __half x, y;
  __half2() = default;
  __half2(__half x, __half y) : x(x), y(y) {}
};
typedef __half2 half2;

KFE_SMALL_FLOAT(__half, __half2, __half2float, __float2half)

inline __half __float2half_rz(float x) {
  const __half near(x);
  const unsigned short bits = __builtin_bit_cast(unsigned short, near.kfe_value);
  if (fabsf(__half2float(near)) <= fabsf(x) || x != x) return near;
  return __half(__half_raw{static_cast<unsigned short>(bits - 1)});
}
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
inline float2 __half22float2(__half2 v) { return {__half2float(v.x), __half2float(v.y)}; }
inline float __low2float(__half2 v) { return __half2float(v.x); }
inline float __high2float(__half2 v) { return __half2float(v.y); }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline unsigned short __half_as_ushort(__half x) { return __builtin_bit_cast(unsigned short, x.kfe_value); }
inline short __half_as_short(__half x) { return __builtin_bit_cast(short, x.kfe_value); }
inline __half __ushort_as_half(unsigned short x) { return __half(__half_raw{x}); }
inline __half __short_as_half(short x) { return __half(__half_raw{static_cast<unsigned short>(x)}); }
inline int __half2int_rn(__half x) { return static_cast<int>(rintf(__half2float(x))); }
inline int __half2int_rz(__half x) { return static_cast<int>(__half2float(x)); }
inline __half __int2half_rn(int x) { return __half(x); }
inline __half __uint2half_rn(unsigned x) { return __half(x); }

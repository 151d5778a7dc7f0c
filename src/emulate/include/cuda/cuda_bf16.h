// __nv_bfloat16 and __nv_bfloat162: the upper half of a float, rounded to nearest even after every operation.
#pragma once

#include "kforge_small_float.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};

namespace kfe {
inline unsigned short to_bfloat(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  if (x != x) return 0x7FFF;
  return static_cast<unsigned short>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
inline float from_bfloat(unsigned short x) {
  return __builtin_bit_cast(float, static_cast<unsigned>(x) << 16);
}
}  // namespace kfe

struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short kfe_bits;

  __nv_bfloat16() = default;
  __nv_bfloat16(float x) : kfe_bits(kfe::to_bfloat(x)) {}
  __nv_bfloat16(double x) : kfe_bits(kfe::to_bfloat(static_cast<float>(x))) {}
  __nv_bfloat16(int x) : kfe_bits(kfe::to_bfloat(static_cast<float>(x))) {}
  __nv_bfloat16(unsigned x) : kfe_bits(kfe::to_bfloat(static_cast<float>(x))) {}
  __nv_bfloat16(__nv_bfloat16_raw raw) : kfe_bits(raw.x) {}
  operator float() const { return kfe::from_bfloat(kfe_bits); }
  operator __nv_bfloat16_raw() const { return {kfe_bits}; }
};
typedef __nv_bfloat16 nv_bfloat16;

inline float __bfloat162float(__nv_bfloat16 x) { return kfe::from_bfloat(x.kfe_bits); }
inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }

struct __attribute__((aligned(4))) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
};
typedef __nv_bfloat162 nv_bfloat162;

KFE_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, __bfloat162float, __float2bfloat16)

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline __nv_bfloat162 __float2bfloat162_rn(float x) { return {__nv_bfloat16(x), __nv_bfloat16(x)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {__bfloat162float(v.x), __bfloat162float(v.y)}; }
inline float __low2float(__nv_bfloat162 v) { return __bfloat162float(v.x); }
inline float __high2float(__nv_bfloat162 v) { return __bfloat162float(v.y); }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.kfe_bits; }
inline short __bfloat16_as_short(__nv_bfloat16 x) { return static_cast<short>(x.kfe_bits); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16(__nv_bfloat16_raw{x}); }
inline __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16(x); }

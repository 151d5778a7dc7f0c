// What __half and __nv_bfloat16 have in common: arithmetic that rounds after every operation, comparisons,
// pairs.
#pragma once

#include "cuda_runtime.h"

#define KFE_SMALL_FLOAT(H, H2, to_float, from_float)                                                 \
  inline H operator+(H a, H b) { return from_float(to_float(a) + to_float(b)); }                     \
  inline H operator-(H a, H b) { return from_float(to_float(a) - to_float(b)); }                     \
  inline H operator*(H a, H b) { return from_float(to_float(a) * to_float(b)); }                     \
  inline H operator/(H a, H b) { return from_float(to_float(a) / to_float(b)); }                     \
  inline H operator-(H a) { return from_float(-to_float(a)); }                                       \
  inline H operator+(H a) { return a; }                                                              \
  inline H& operator+=(H& a, H b) { return a = a + b; }                                              \
  inline H& operator-=(H& a, H b) { return a = a - b; }                                              \
  inline H& operator*=(H& a, H b) { return a = a * b; }                                              \
  inline H& operator/=(H& a, H b) { return a = a / b; }                                              \
  inline bool operator==(H a, H b) { return to_float(a) == to_float(b); }                            \
  inline bool operator!=(H a, H b) { return to_float(a) != to_float(b); }                            \
  inline bool operator<(H a, H b) { return to_float(a) < to_float(b); }                              \
  inline bool operator>(H a, H b) { return to_float(a) > to_float(b); }                              \
  inline bool operator<=(H a, H b) { return to_float(a) <= to_float(b); }                            \
  inline bool operator>=(H a, H b) { return to_float(a) >= to_float(b); }                            \
  inline H __hadd(H a, H b) { return a + b; }                                                        \
  inline H __hadd_rn(H a, H b) { return a + b; }                                                     \
  inline H __hsub(H a, H b) { return a - b; }                                                        \
  inline H __hmul(H a, H b) { return a * b; }                                                        \
  inline H __hmul_rn(H a, H b) { return a * b; }                                                     \
  inline H __hdiv(H a, H b) { return a / b; }                                                        \
  inline H __hneg(H a) { return -a; }                                                                \
  inline H __habs(H a) { return from_float(fabsf(to_float(a))); }                                    \
  inline H __hfma(H a, H b, H c) { return from_float(fmaf(to_float(a), to_float(b), to_float(c))); } \
  inline H __hfma_relu(H a, H b, H c) {                                                              \
    return from_float(fmaxf(0, fmaf(to_float(a), to_float(b), to_float(c))));                        \
  }                                                                                                  \
  inline H __hmax(H a, H b) { return from_float(fmaxf(to_float(a), to_float(b))); }                  \
  inline H __hmin(H a, H b) { return from_float(fminf(to_float(a), to_float(b))); }                  \
  inline H __hmax_nan(H a, H b) { return a != a ? a : b != b ? b : __hmax(a, b); }                   \
  inline H __hmin_nan(H a, H b) { return a != a ? a : b != b ? b : __hmin(a, b); }                   \
  inline bool __heq(H a, H b) { return a == b; }                                                     \
  inline bool __hne(H a, H b) { return a != b; }                                                     \
  inline bool __hlt(H a, H b) { return a < b; }                                                      \
  inline bool __hle(H a, H b) { return a <= b; }                                                     \
  inline bool __hgt(H a, H b) { return a > b; }                                                      \
  inline bool __hge(H a, H b) { return a >= b; }                                                     \
  inline bool __hisnan(H a) { return a != a; }                                                       \
  inline int __hisinf(H a) { return __builtin_isinf(to_float(a)) ? (to_float(a) < 0 ? -1 : 1) : 0; } \
  inline H hexp(H a) { return from_float(expf(to_float(a))); }                                       \
  inline H hexp2(H a) { return from_float(exp2f(to_float(a))); }                                     \
  inline H hlog(H a) { return from_float(logf(to_float(a))); }                                       \
  inline H hlog2(H a) { return from_float(log2f(to_float(a))); }                                     \
  inline H hsqrt(H a) { return from_float(sqrtf(to_float(a))); }                                     \
  inline H hrsqrt(H a) { return from_float(rsqrtf(to_float(a))); }                                   \
  inline H hrcp(H a) { return from_float(1.0f / to_float(a)); }                                      \
  inline H hsin(H a) { return from_float(sinf(to_float(a))); }                                       \
  inline H hcos(H a) { return from_float(cosf(to_float(a))); }                                       \
  inline H htanh(H a) { return from_float(tanhf(to_float(a))); }                                     \
  inline H hfloor(H a) { return from_float(floorf(to_float(a))); }                                   \
  inline H hceil(H a) { return from_float(ceilf(to_float(a))); }                                     \
  inline H hrint(H a) { return from_float(rintf(to_float(a))); }                                     \
  inline H htrunc(H a) { return from_float(truncf(to_float(a))); }                                   \
  inline H2 operator+(H2 a, H2 b) { return {a.x + b.x, a.y + b.y}; }                                 \
  inline H2 operator-(H2 a, H2 b) { return {a.x - b.x, a.y - b.y}; }                                 \
  inline H2 operator*(H2 a, H2 b) { return {a.x * b.x, a.y * b.y}; }                                 \
  inline H2 operator/(H2 a, H2 b) { return {a.x / b.x, a.y / b.y}; }                                 \
  inline H2 operator-(H2 a) { return {-a.x, -a.y}; }                                                 \
  inline H2& operator+=(H2& a, H2 b) { return a = a + b; }                                           \
  inline H2& operator-=(H2& a, H2 b) { return a = a - b; }                                           \
  inline H2& operator*=(H2& a, H2 b) { return a = a * b; }                                           \
  inline H2 __hadd2(H2 a, H2 b) { return a + b; }                                                    \
  inline H2 __hsub2(H2 a, H2 b) { return a - b; }                                                    \
  inline H2 __hmul2(H2 a, H2 b) { return a * b; }                                                    \
  inline H2 __h2div(H2 a, H2 b) { return a / b; }                                                    \
  inline H2 __hneg2(H2 a) { return -a; }                                                             \
  inline H2 __habs2(H2 a) { return {__habs(a.x), __habs(a.y)}; }                                     \
  inline H2 __hfma2(H2 a, H2 b, H2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }     \
  inline H2 __hmax2(H2 a, H2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                     \
  inline H2 __hmin2(H2 a, H2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                     \
  inline H2 h2exp(H2 a) { return {hexp(a.x), hexp(a.y)}; }                                           \
  inline H2 h2sqrt(H2 a) { return {hsqrt(a.x), hsqrt(a.y)}; }                                        \
  inline H2 h2rsqrt(H2 a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }                                     \
  inline H2 h2tanh(H2 a) { return {htanh(a.x), htanh(a.y)}; }                                        \
  inline bool __hbeq2(H2 a, H2 b) { return a.x == b.x && a.y == b.y; }                               \
  inline H __ldg_small(const H* p) { return *p; }                                                    \
  inline H atomicAdd(H* p, H v) {                                                                    \
    return kfe::atomic_change(p, [v](H old) { return old + v; });                                    \
  }                                                                                                  \
  inline H2 atomicAdd(H2* p, H2 v) {                                                                 \
    return kfe::atomic_change(p, [v](H2 old) { return old + v; });                                   \
  }

// metal::: mathematics for scalars and vectors, computed in float (half is rounded after every function).
#pragma once

#include "kforge/libm.h"
#include "metal_vectors.h"

namespace metal {

#define KFE_FLOAT1(name, expression)                   \
  template <class V>                                   \
  inline V name(V v) {                                 \
    return kfe::each(                                  \
        [](auto e) -> decltype(e) {                    \
          const float x = static_cast<float>(e);       \
          return static_cast<decltype(e)>(expression); \
        },                                             \
        v);                                            \
  }
// clang-format off
KFE_FLOAT1(acos, ::acosf(x)) KFE_FLOAT1(acosh, ::acoshf(x)) KFE_FLOAT1(asin, ::asinf(x))
KFE_FLOAT1(asinh, ::asinhf(x)) KFE_FLOAT1(atan, ::atanf(x)) KFE_FLOAT1(atanh, ::atanhf(x))
KFE_FLOAT1(ceil, ::ceilf(x)) KFE_FLOAT1(cos, ::cosf(x)) KFE_FLOAT1(cosh, ::coshf(x))
KFE_FLOAT1(cospi, ::cosf(3.14159265358979f * x)) KFE_FLOAT1(exp, ::expf(x)) KFE_FLOAT1(exp2, ::exp2f(x))
KFE_FLOAT1(exp10, ::exp10f(x)) KFE_FLOAT1(fabs, ::fabsf(x)) KFE_FLOAT1(floor, ::floorf(x))
KFE_FLOAT1(fract, x - ::floorf(x)) KFE_FLOAT1(log, ::logf(x)) KFE_FLOAT1(log2, ::log2f(x))
KFE_FLOAT1(log10, ::log10f(x)) KFE_FLOAT1(rint, ::rintf(x)) KFE_FLOAT1(round, ::roundf(x))
KFE_FLOAT1(rsqrt, 1.0f / ::sqrtf(x)) KFE_FLOAT1(sin, ::sinf(x)) KFE_FLOAT1(sinh, ::sinhf(x))
KFE_FLOAT1(sinpi, ::sinf(3.14159265358979f * x)) KFE_FLOAT1(sqrt, ::sqrtf(x)) KFE_FLOAT1(tan, ::tanf(x))
KFE_FLOAT1(tanh, ::tanhf(x)) KFE_FLOAT1(trunc, ::truncf(x));
// clang-format on
KFE_FLOAT1(saturate, x > 0 ? (x < 1 ? x : 1.0f) : 0.0f) KFE_FLOAT1(sign, x > 0 ? 1.0f : x < 0 ? -1.0f : x);
#undef KFE_FLOAT1

// Of integers, too; with NaN the other one.
template <class A, class B>
inline auto max(A a, B b) {
  typedef decltype(a + b) Wide;
  typedef kfe::bare_t<decltype(__is_same(A, B) ? a : static_cast<A>(a))> Same;
  typedef __remove_cv(Wide) Result;
  if constexpr (__is_same(A, B))
    return kfe::each([](auto x, auto y) -> decltype(x) { return x != x || y > x ? y : x; },
                     static_cast<Same>(a), b);
  else
    return kfe::each(
        [](auto x, auto y) -> decltype(x) { return x != x || y > x ? static_cast<decltype(x)>(y) : x; },
        static_cast<Result>(a), b);
}
template <class A, class B>
inline auto min(A a, B b) {
  typedef decltype(a + b) Wide;
  typedef kfe::bare_t<decltype(__is_same(A, B) ? a : static_cast<A>(a))> Same;
  typedef __remove_cv(Wide) Result;
  if constexpr (__is_same(A, B))
    return kfe::each([](auto x, auto y) -> decltype(x) { return x != x || y < x ? y : x; },
                     static_cast<Same>(a), b);
  else
    return kfe::each(
        [](auto x, auto y) -> decltype(x) { return x != x || y < x ? static_cast<decltype(x)>(y) : x; },
        static_cast<Result>(a), b);
}
template <class A, class B>
inline auto fmax(A a, B b) {
  return max(a, b);
}
template <class A, class B>
inline auto fmin(A a, B b) {
  return min(a, b);
}
template <class V>
inline V max3(V a, V b, V c) {
  return max(max(a, b), c);
}
template <class V>
inline V min3(V a, V b, V c) {
  return min(min(a, b), c);
}
template <class V>
inline V median3(V a, V b, V c) {
  return max(min(a, b), min(max(a, b), c));
}
template <class V>
inline V fmax3(V a, V b, V c) {
  return max3(a, b, c);
}
template <class V>
inline V fmin3(V a, V b, V c) {
  return min3(a, b, c);
}
template <class V>
inline V fmedian3(V a, V b, V c) {
  return median3(a, b, c);
}
template <class A, class B, class C>
inline auto clamp(A x, B low, C high) {
  return min(max(x, low), high);
}
template <class V>
inline V abs(V v) {
  return kfe::each([](auto x) -> decltype(x) { return x < 0 ? -x : x + 0; }, v);
}

#define KFE_FLOAT2(name, expression)                                        \
  template <class V, class W>                                               \
  inline V name(V v, W w) {                                                 \
    return kfe::each(                                                       \
        [](auto e, auto f) -> decltype(e) {                                 \
          const float a = static_cast<float>(e), b = static_cast<float>(f); \
          return static_cast<decltype(e)>(expression);                      \
        },                                                                  \
        v, w);                                                              \
  }
// clang-format off
KFE_FLOAT2(atan2, ::atan2f(a, b)) KFE_FLOAT2(copysign, ::copysignf(a, b)) KFE_FLOAT2(fdim, ::fdimf(a, b))
KFE_FLOAT2(fmod, ::fmodf(a, b)) KFE_FLOAT2(pow, ::powf(a, b)) KFE_FLOAT2(powr, ::powf(a, b))
KFE_FLOAT2(step, b < a ? 0.0f : 1.0f) KFE_FLOAT2(ldexp, ::ldexpf(a, static_cast<int>(b)));
// clang-format on
KFE_FLOAT2(divide, a / b);
#undef KFE_FLOAT2
template <class V, class W, class U>
inline V fma(V v, W w, U u) {
  return kfe::each(
      [](auto a, auto b, auto c) -> decltype(a) {
        return static_cast<decltype(a)>(
            ::fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
      },
      v, w, u);
}
template <class V, class W, class U>
inline V mix(V v, W w, U u) {
  return kfe::each(
      [](auto a, auto b, auto t) -> decltype(a) { return static_cast<decltype(a)>(a + (b - a) * t); }, v, w,
      u);
}
template <class V, class W, class U>
inline V mad(V v, W w, U u) {
  return v * w + u;
}
template <class V>
inline V smoothstep(V low, V high, V x) {
  const V t = clamp((x - low) / (high - low), V(0), V(1));
  return t * t * (V(3) - V(2) * t);
}
// b where c, else a.
template <class V, class C>
inline V select(V a, V b, C c) {
  if constexpr (kfe::is_vector<V>) {
    V out{};
    for (int i = 0; i < kfe::shape<V>::count; ++i) out[i] = kfe::element<V>(c, i) ? b[i] : a[i];
    return out;
  } else {
    return c ? b : a;
  }
}
template <class V>
inline auto dot(V a, V b) {
  typename kfe::shape<V>::element sum = 0;
  for (int i = 0; i < kfe::shape<V>::count; ++i) sum += a[i] * b[i];
  return sum;
}
template <class V>
inline auto length_squared(V v) {
  return dot(v, v);
}
template <class V>
inline auto length(V v) {
  return sqrt(dot(v, v));
}
template <class V>
inline auto distance(V a, V b) {
  return length(a - b);
}
template <class V>
inline V normalize(V v) {
  return v * rsqrt(dot(v, v));
}
template <class V>
inline V cross(V a, V b) {
  return kfe::make<V>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

template <class V>
inline auto kfe_test(V v, bool (*test)(float)) {
  if constexpr (kfe::is_vector<V>) {
    vec<bool, kfe::shape<V>::count> out{};
    for (int i = 0; i < kfe::shape<V>::count; ++i) out[i] = test(static_cast<float>(v[i]));
    return out;
  } else {
    return test(static_cast<float>(v));
  }
}
template <class V>
inline auto isnan(V v) {
  return kfe_test(v, [](float x) { return x != x; });
}
template <class V>
inline auto isinf(V v) {
  return kfe_test(v, [](float x) -> bool { return __builtin_isinf(x); });
}
template <class V>
inline auto isfinite(V v) {
  return kfe_test(v, [](float x) -> bool { return __builtin_isfinite(x); });
}
template <class V>
inline auto signbit(V v) {
  return kfe_test(v, [](float x) -> bool { return __builtin_signbit(x); });
}
template <class V>
inline bool any(V v) {
  bool out = false;
  if constexpr (kfe::is_vector<V> || kfe::is_packed<V>)
    for (int i = 0; i < kfe::shape<V>::count; ++i) out |= v[i] != 0;
  else
    out = v != 0;
  return out;
}
template <class V>
inline bool all(V v) {
  bool out = true;
  if constexpr (kfe::is_vector<V> || kfe::is_packed<V>)
    for (int i = 0; i < kfe::shape<V>::count; ++i) out &= v[i] != 0;
  else
    out = v != 0;
  return out;
}

template <class T>
inline T popcount(T x) {
  return static_cast<T>(
      __builtin_popcountll(static_cast<unsigned long long>(x) & (~0ull >> (64 - 8 * sizeof(T)))));
}
template <class T>
inline T clz(T x) {
  const unsigned long long bits = static_cast<unsigned long long>(x) << (64 - 8 * sizeof(T));
  return static_cast<T>(bits ? __builtin_clzll(bits) : static_cast<int>(8 * sizeof(T)));
}
template <class T>
inline T ctz(T x) {
  return static_cast<T>(x ? __builtin_ctzll(static_cast<unsigned long long>(x))
                          : static_cast<int>(8 * sizeof(T)));
}
inline uint reverse_bits(uint x) { return __builtin_bitreverse32(x); }
inline uint mulhi(uint a, uint b) { return static_cast<uint>((static_cast<ulong>(a) * b) >> 32); }
inline int mulhi(int a, int b) { return static_cast<int>((static_cast<long>(a) * b) >> 32); }
template <class T>
inline T rotate(T x, T n) {
  constexpr T bits = 8 * sizeof(T);
  return static_cast<T>((x << (n % bits)) | (x >> ((bits - n % bits) % bits)));
}
template <class T>
inline T absdiff(T a, T b) {
  return a < b ? b - a : a - b;
}
inline uint extract_bits(uint x, uint offset, uint bits) {
  return bits == 0 ? 0 : (x >> offset) & (~0u >> (32 - bits));
}

// The fast ones are as precise here as the precise ones.
#define KFE_SAME                                                                                            \
  using metal::acos, metal::acosh, metal::asin, metal::asinh, metal::atan, metal::atan2, metal::atanh,      \
      metal::ceil, metal::clamp, metal::cos, metal::cosh, metal::cospi, metal::divide, metal::exp,          \
      metal::exp10, metal::exp2, metal::fabs, metal::floor, metal::fma, metal::fmax, metal::fmin,           \
      metal::fmod, metal::fract, metal::log, metal::log10, metal::log2, metal::max, metal::min, metal::pow, \
      metal::powr, metal::rint, metal::round, metal::rsqrt, metal::saturate, metal::sin, metal::sinh,       \
      metal::sinpi, metal::sqrt, metal::tan, metal::tanh, metal::trunc, metal::length, metal::normalize,    \
      metal::distance;
namespace fast {
KFE_SAME
}
namespace precise {
KFE_SAME
}
#undef KFE_SAME

template <class T>
struct numeric_limits;
#define KFE_LIMITS(T, low, high, eps, inf, nan)    \
  template <>                                      \
  struct numeric_limits<T> {                       \
    static constexpr T lowest() { return low; }    \
    static constexpr T max() { return high; }      \
    static constexpr T epsilon() { return eps; }   \
    static constexpr T infinity() { return inf; }  \
    static constexpr T quiet_NaN() { return nan; } \
  };
// clang-format off
KFE_LIMITS(float, -3.402823466e38f, 3.402823466e38f, 1.192092896e-7f, __builtin_inff(), __builtin_nanf(""))
KFE_LIMITS(half, static_cast<half>(-65504.0f), static_cast<half>(65504.0f), static_cast<half>(0.0009765625f), static_cast<half>(__builtin_inff()), static_cast<half>(__builtin_nanf("")))
KFE_LIMITS(int, -2147483647 - 1, 2147483647, 0, 0, 0) KFE_LIMITS(uint, 0u, 4294967295u, 0, 0, 0)
KFE_LIMITS(short, -32768, 32767, 0, 0, 0) KFE_LIMITS(ushort, 0, 65535, 0, 0, 0);
// clang-format on
KFE_LIMITS(char, -128, 127, 0, 0, 0) KFE_LIMITS(uchar, 0, 255, 0, 0, 0);
#undef KFE_LIMITS

template <class A, class B>
struct is_same {
  static constexpr bool value = __is_same(A, B);
};
template <class A, class B>
inline constexpr bool is_same_v = __is_same(A, B);
template <bool, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  typedef T type;
};
template <bool b, class T = void>
using enable_if_t = typename enable_if<b, T>::type;
template <bool c, class A, class B>
struct conditional {
  typedef A type;
};
template <class A, class B>
struct conditional<false, A, B> {
  typedef B type;
};
template <bool c, class A, class B>
using conditional_t = typename conditional<c, A, B>::type;

}  // namespace metal

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FLT_MAX 3.402823466e38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-7f
#define HALF_MAX (static_cast<half>(65504.0f))
#define MAXFLOAT FLT_MAX
#define HUGE_VALF __builtin_inff()
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f
#define M_LN2_F 0.69314718055994530942f
#define M_LOG2E_F 1.44269504088896340736f
#define M_E_F 2.71828182845904523536f

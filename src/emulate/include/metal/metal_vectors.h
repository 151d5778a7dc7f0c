// MSL's scalar and vector types: the compiler's own vectors have the swizzles, the arithmetic and the 16
// bytes of a float3. Constructors of several arguments are made by kfe::make, which the rewriter puts in
// their place.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kforge/device_api.h"

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;

namespace metal {

// The upper half of a float, rounded to nearest even.
struct bfloat {
  unsigned short kfe_bits;
  bfloat() = default;
  bfloat(float x) {
    const unsigned bits = __builtin_bit_cast(unsigned, x);
    kfe_bits = static_cast<unsigned short>(x != x ? 0x7FC0 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  }
  operator float() const { return __builtin_bit_cast(float, static_cast<unsigned>(kfe_bits) << 16); }
  bfloat& operator+=(float x) { return *this = *this + x; }
  bfloat& operator*=(float x) { return *this = *this * x; }
};

#define KFE_VECTORS(T)                                                             \
  typedef T T##2 __attribute__((ext_vector_type(2)));                              \
  typedef T T##3 __attribute__((ext_vector_type(3)));                              \
  typedef T T##4 __attribute__((ext_vector_type(4)));                              \
  typedef T packed_##T##2 __attribute__((ext_vector_type(2), aligned(sizeof(T)))); \
  typedef T packed_##T##4 __attribute__((ext_vector_type(4), aligned(sizeof(T)))); \
  struct packed_##T##3 {                                                           \
    T x, y, z;                                                                     \
    typedef T kfe_element;                                                         \
    static constexpr int kfe_count = 3;                                            \
    packed_##T##3() = default;                                                     \
    packed_##T##3(T##3 v) : x(v.x), y(v.y), z(v.z) {}                              \
    operator T##3() const { return T##3 {x, y, z}; }                               \
    T& operator[](int i) { return (&x)[i]; }                                       \
    T operator[](int i) const { return (&x)[i]; }                                  \
  };
// clang-format off
KFE_VECTORS(float) KFE_VECTORS(half) KFE_VECTORS(int) KFE_VECTORS(uint) KFE_VECTORS(short);
// clang-format on
KFE_VECTORS(ushort) KFE_VECTORS(char) KFE_VECTORS(uchar) KFE_VECTORS(long) KFE_VECTORS(ulong);
#undef KFE_VECTORS
// Comparing vectors gives integers in this compiler and bools in MSL, so vectors of bool take either.
#define KFE_BOOLS(n, ...)                                                       \
  struct bool##n {                                                              \
    bool __VA_ARGS__;                                                           \
    typedef bool kfe_element;                                                   \
    static constexpr int kfe_count = n;                                         \
    bool##n() = default;                                                        \
    template <class V>                                                          \
    requires requires(V v) { v.xy; }                                            \
    bool##n(V v) {                                                              \
      for (int i = 0; i < n; ++i) (*this)[i] = v[i] != 0;                       \
    }                                                                           \
    bool& operator[](int i) { return (&x)[i]; }                                 \
    bool operator[](int i) const { return (&x)[i]; }                            \
    template <class F>                                                          \
    static bool##n kfe_each(bool##n a, bool##n b, F f) {                        \
      for (int i = 0; i < n; ++i) a[i] = f(a[i], b[i]);                         \
      return a;                                                                 \
    }                                                                           \
    friend bool##n operator!(bool##n a) {                                       \
      return kfe_each(a, a, [](bool one, bool) { return !one; });               \
    }                                                                           \
    friend bool##n operator&&(bool##n a, bool##n b) {                           \
      return kfe_each(a, b, [](bool one, bool other) { return one && other; }); \
    }                                                                           \
    friend bool##n operator||(bool##n a, bool##n b) {                           \
      return kfe_each(a, b, [](bool one, bool other) { return one || other; }); \
    }                                                                           \
    friend bool##n operator&(bool##n a, bool##n b) { return a && b; }           \
    friend bool##n operator|(bool##n a, bool##n b) { return a || b; }           \
    friend bool##n operator^(bool##n a, bool##n b) {                            \
      return kfe_each(a, b, [](bool one, bool other) { return one != other; }); \
    }                                                                           \
    friend bool##n operator!=(bool##n a, bool##n b) { return a ^ b; }           \
    friend bool##n operator==(bool##n a, bool##n b) { return !(a ^ b); }        \
  };
KFE_BOOLS(2, x, y)
KFE_BOOLS(3, x, y, z)
KFE_BOOLS(4, x, y, z, w)
#undef KFE_BOOLS

template <class T, int n>
struct kfe_vector;
template <class T>
struct kfe_vector<T, 2> {
  typedef T type __attribute__((ext_vector_type(2)));
};
template <class T>
struct kfe_vector<T, 3> {
  typedef T type __attribute__((ext_vector_type(3)));
};
template <class T>
struct kfe_vector<T, 4> {
  typedef T type __attribute__((ext_vector_type(4)));
};
template <>
struct kfe_vector<bool, 2> {
  typedef bool2 type;
};
template <>
struct kfe_vector<bool, 3> {
  typedef bool3 type;
};
template <>
struct kfe_vector<bool, 4> {
  typedef bool4 type;
};
template <class T, int n>
using vec = typename kfe_vector<T, n>::type;

}  // namespace metal

namespace kfe {

template <class T>
struct bare {
  typedef T type;
};
template <class T>
struct bare<T&> : bare<T> {};
template <class T>
struct bare<T&&> : bare<T> {};
template <class T>
struct bare<const T> : bare<T> {};
template <class T>
using bare_t = typename bare<T>::type;

// Elements of a vector, by what its swizzles allow; 1 for everything else.
template <class V>
concept is_vector = requires(V v) {
  v[0];
  v.xy;
};
template <class V>
struct shape {
  typedef V element;
  static constexpr int count = 1;
};
template <is_vector V>
struct shape<V> {
  typedef bare_t<decltype(V()[0])> element;
  static constexpr int count = requires(V v) { v.w; }
  ? 4 : requires(V v) { v.z; }
  ? 3 : 2;
};

template <class V>
concept is_packed = requires {
  typename V::kfe_element;
};
template <is_packed V>
struct shape<V> {
  typedef typename V::kfe_element element;
  static constexpr int count = V::kfe_count;
};

template <class V, class Part>
inline void put(V& out, int& at, const Part& part) {
  typedef typename shape<V>::element T;
  if constexpr (is_vector<Part> || is_packed<Part>) {
    for (int i = 0; i < shape<Part>::count && at < shape<V>::count; ++i) out[at++] = static_cast<T>(part[i]);
  } else {
    out[at++] = static_cast<T>(part);
  }
}

// float4(a, b.xy, 1), int3(2), half2(v). By value: a reference would forget that a packed vector may lie at
// any multiple of its elements' size.
template <class V, class... Parts>
inline V make(Parts... parts) {
  V out{};
  int at = 0;
  (put(out, at, parts), ...);
  if (at == 1)
    for (; at < shape<V>::count; ++at) out[at] = out[0];
  return out;
}

// Element by element.
template <class V, class F>
inline V each(F f, const V& a) {
  if constexpr (is_vector<V>) {
    V out{};
    for (int i = 0; i < shape<V>::count; ++i) out[i] = f(a[i]);
    return out;
  } else {
    return f(a);
  }
}
template <class V, class W>
inline auto element(const W& w, int i) {
  if constexpr (is_vector<W> || is_packed<W>)
    return w[i];
  else
    return w;
}
template <class V, class F, class B>
inline V each(F f, const V& a, const B& b) {
  if constexpr (is_vector<V>) {
    V out{};
    for (int i = 0; i < shape<V>::count; ++i) out[i] = f(a[i], element<V>(b, i));
    return out;
  } else {
    return f(a, static_cast<V>(b));
  }
}
template <class V, class F, class B, class C>
inline V each(F f, const V& a, const B& b, const C& c) {
  if constexpr (is_vector<V>) {
    V out{};
    for (int i = 0; i < shape<V>::count; ++i) out[i] = f(a[i], element<V>(b, i), element<V>(c, i));
    return out;
  } else {
    return f(a, static_cast<V>(b), static_cast<V>(c));
  }
}

}  // namespace kfe

template <class To, class From>
inline To as_type(From from) {
  static_assert(sizeof(To) == sizeof(From), "as_type of another size");
  return __builtin_bit_cast(To, from);
}

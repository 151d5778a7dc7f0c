// The vector types, with the sizes and alignments of CUDA's (emulate/layout_test.cc).
#pragma once

#define KFE_VECTOR1(T, name) \
  struct name##1 {           \
    T x;                     \
  };
#define KFE_VECTOR2(T, name, bytes)                \
  struct __attribute__((aligned(bytes))) name##2 { \
    T x, y;                                        \
  };
#define KFE_VECTOR3(T, name) \
  struct name##3 {           \
    T x, y, z;               \
  };
#define KFE_VECTOR4(T, name, bytes)                \
  struct __attribute__((aligned(bytes))) name##4 { \
    T x, y, z, w;                                  \
  };
#define KFE_MAKE(T, name)                                            \
  inline name##1 make_##name##1(T x) { return {x}; }                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define KFE_VECTORS(T, name, two, four) \
  KFE_VECTOR1(T, name)                  \
  KFE_VECTOR2(T, name, two) KFE_VECTOR3(T, name) KFE_VECTOR4(T, name, four) KFE_MAKE(T, name)

KFE_VECTORS(signed char, char, 2, 4)
KFE_VECTORS(unsigned char, uchar, 2, 4)
KFE_VECTORS(short, short, 4, 8)
KFE_VECTORS(unsigned short, ushort, 4, 8)
KFE_VECTORS(int, int, 8, 16)
KFE_VECTORS(unsigned int, uint, 8, 16)
KFE_VECTORS(long, long, 16, 16)
KFE_VECTORS(unsigned long, ulong, 16, 16)
KFE_VECTORS(long long, longlong, 16, 16)
KFE_VECTORS(unsigned long long, ulonglong, 16, 16)
KFE_VECTORS(float, float, 8, 16)
KFE_VECTORS(double, double, 16, 16)

#undef KFE_VECTOR1
#undef KFE_VECTOR2
#undef KFE_VECTOR3
#undef KFE_VECTOR4
#undef KFE_MAKE
#undef KFE_VECTORS

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

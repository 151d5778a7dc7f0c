// Atomic functions, for every worker thread of the emulator. After many of them a thread gives way: it may
// wait for another one of its block.
#pragma once

#include "kforge/device_api.h"

namespace kfe {

template <class T>
struct same {
  typedef T type;
};
template <class T>
using given = typename same<T>::type;

KFE_APART void be_patient() {
  if (__builtin_expect(--kfe_patience < 0, 0)) kfe_yield();
}

template <int bytes>
struct word;
template <>
struct word<2> {
  typedef unsigned short type;
};
template <>
struct word<4> {
  typedef unsigned type;
};
template <>
struct word<8> {
  typedef unsigned long long type;
};

// Any change of a value of 2, 4 or 8 bytes.
template <class T, class Change>
inline T atomic_change(T* address, Change change) {
  typedef typename word<sizeof(T)>::type Word;
  Word* place = reinterpret_cast<Word*>(address);
  Word old = __atomic_load_n(place, __ATOMIC_RELAXED);
  for (;;) {
    const Word made = __builtin_bit_cast(Word, change(__builtin_bit_cast(T, old)));
    if (__atomic_compare_exchange_n(place, &old, made, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) break;
  }
  be_patient();
  return __builtin_bit_cast(T, old);
}

}  // namespace kfe

#define KFE_ATOMIC_INTEGER(T)                                                                \
  inline T atomicAdd(T* p, T v) {                                                            \
    kfe::be_patient();                                                                       \
    return __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL);                                       \
  }                                                                                          \
  inline T atomicSub(T* p, T v) {                                                            \
    kfe::be_patient();                                                                       \
    return __atomic_fetch_sub(p, v, __ATOMIC_ACQ_REL);                                       \
  }                                                                                          \
  inline T atomicAnd(T* p, T v) {                                                            \
    kfe::be_patient();                                                                       \
    return __atomic_fetch_and(p, v, __ATOMIC_ACQ_REL);                                       \
  }                                                                                          \
  inline T atomicOr(T* p, T v) {                                                             \
    kfe::be_patient();                                                                       \
    return __atomic_fetch_or(p, v, __ATOMIC_ACQ_REL);                                        \
  }                                                                                          \
  inline T atomicXor(T* p, T v) {                                                            \
    kfe::be_patient();                                                                       \
    return __atomic_fetch_xor(p, v, __ATOMIC_ACQ_REL);                                       \
  }                                                                                          \
  inline T atomicExch(T* p, T v) {                                                           \
    kfe::be_patient();                                                                       \
    return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL);                                      \
  }                                                                                          \
  inline T atomicMin(T* p, T v) {                                                            \
    return kfe::atomic_change(p, [v](T old) { return v < old ? v : old; });                  \
  }                                                                                          \
  inline T atomicMax(T* p, T v) {                                                            \
    return kfe::atomic_change(p, [v](T old) { return v > old ? v : old; });                  \
  }                                                                                          \
  inline T atomicCAS(T* p, T expected, T v) {                                                \
    kfe::be_patient();                                                                       \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); \
    return expected;                                                                         \
  }

// clang-format off
KFE_ATOMIC_INTEGER(int) KFE_ATOMIC_INTEGER(unsigned) KFE_ATOMIC_INTEGER(long long);
// clang-format on
KFE_ATOMIC_INTEGER(unsigned long long) KFE_ATOMIC_INTEGER(unsigned long);
#undef KFE_ATOMIC_INTEGER

inline unsigned atomicInc(unsigned* p, unsigned most) {
  return kfe::atomic_change(p, [most](unsigned old) { return old >= most ? 0u : old + 1; });
}
inline unsigned atomicDec(unsigned* p, unsigned most) {
  return kfe::atomic_change(p, [most](unsigned old) { return old == 0 || old > most ? most : old - 1; });
}
inline float atomicAdd(float* p, float v) {
  return kfe::atomic_change(p, [v](float old) { return old + v; });
}
inline double atomicAdd(double* p, double v) {
  return kfe::atomic_change(p, [v](double old) { return old + v; });
}
inline float atomicExch(float* p, float v) {
  return kfe::atomic_change(p, [v](float) { return v; });
}
inline unsigned short atomicCAS(unsigned short* p, unsigned short expected, unsigned short v) {
  kfe::be_patient();
  __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return expected;
}
#define KFE_SCOPED(name)                          \
  template <class T>                              \
  inline T name##_block(T* p, kfe::given<T> v) {  \
    return name(p, v);                            \
  }                                               \
  template <class T>                              \
  inline T name##_system(T* p, kfe::given<T> v) { \
    return name(p, v);                            \
  }
// clang-format off
KFE_SCOPED(atomicAdd) KFE_SCOPED(atomicSub) KFE_SCOPED(atomicMin) KFE_SCOPED(atomicMax);
// clang-format on
KFE_SCOPED(atomicExch) KFE_SCOPED(atomicAnd) KFE_SCOPED(atomicOr) KFE_SCOPED(atomicXor);
#undef KFE_SCOPED

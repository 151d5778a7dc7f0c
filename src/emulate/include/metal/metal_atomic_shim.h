// metal::atomic<T> with the explicit functions.
#pragma once

#include "metal_simd_shim.h"

namespace metal {

template <class T>
struct atomic {
  T kfe_value;
};
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<float> atomic_float;
typedef atomic<bool> atomic_bool;
typedef atomic<ulong> atomic_ulong;

namespace kfe_detail {
inline void be_patient() {
  if (__builtin_expect(--kfe_patience < 0, 0)) kfe_yield();
}
template <class T, class Change>
inline T changed(const volatile atomic<T>* p, Change change) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics have 4 or 8 bytes");
  typedef conditional_t<sizeof(T) == 4, uint, ulong> Word;
  Word* place = reinterpret_cast<Word*>(const_cast<T*>(&p->kfe_value));
  Word old = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(place, &old,
                                      __builtin_bit_cast(Word, change(__builtin_bit_cast(T, old))), false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
  }
  be_patient();
  return __builtin_bit_cast(T, old);
}
template <class T>
struct same {
  typedef T type;
};
template <class T>
using given = typename same<T>::type;
}  // namespace kfe_detail

template <class T>
inline void atomic_store_explicit(volatile atomic<T>* p, kfe_detail::given<T> v, memory_order) {
  __atomic_store(const_cast<T*>(&p->kfe_value), &v, __ATOMIC_RELEASE);
}
template <class T>
inline T atomic_load_explicit(const volatile atomic<T>* p, memory_order) {
  T v;
  __atomic_load(const_cast<T*>(&p->kfe_value), &v, __ATOMIC_ACQUIRE);
  kfe_detail::be_patient();
  return v;
}
#define KFE_FETCH(name, expression)                                                                \
  template <class T>                                                                               \
  inline T atomic_##name##_explicit(volatile atomic<T>* p, kfe_detail::given<T> v, memory_order) { \
    return kfe_detail::changed(p, [v](T old) -> T { return expression; });                         \
  }
// clang-format off
KFE_FETCH(exchange, (static_cast<void>(old), v)) KFE_FETCH(fetch_add, old + v) KFE_FETCH(fetch_sub, old - v)
KFE_FETCH(fetch_max, old > v ? old : v) KFE_FETCH(fetch_min, old < v ? old : v) KFE_FETCH(fetch_and, old& v);
// clang-format on
KFE_FETCH(fetch_or, old | v) KFE_FETCH(fetch_xor, old ^ v);
#undef KFE_FETCH
template <class T>
inline bool atomic_compare_exchange_weak_explicit(volatile atomic<T>* p, T* expected, kfe_detail::given<T> v,
                                                  memory_order, memory_order) {
  typedef conditional_t<sizeof(T) == 4, uint, ulong> Word;
  Word old = __builtin_bit_cast(Word, *expected);
  const bool done =
      __atomic_compare_exchange_n(reinterpret_cast<Word*>(const_cast<T*>(&p->kfe_value)), &old,
                                  __builtin_bit_cast(Word, v), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  kfe_detail::be_patient();
  *expected = __builtin_bit_cast(T, old);
  return done;
}

}  // namespace metal

// How the thunks of a CUDA program call its kernels: types come from the kernel, values from the plan.
#pragma once

#include "device_api.h"

namespace kfe {

template <class T>
struct argument {  // structures by value are not of a plan
  static constexpr bool pointer = false, integer = false, real = false;
};
template <class T>
struct argument<T*> {
  static constexpr bool pointer = true, integer = false, real = false;
  static T* from(const KfeArgument& a) { return static_cast<T*>(a.pointer); }
};
#define KFE_SCALAR(T, is_real, field)                                          \
  template <>                                                                  \
  struct argument<T> {                                                         \
    static constexpr bool pointer = false, integer = !is_real, real = is_real; \
    static T from(const KfeArgument& a) { return static_cast<T>(a.field); }    \
  };
// clang-format off
KFE_SCALAR(int, false, integer) KFE_SCALAR(unsigned, false, integer) KFE_SCALAR(long, false, integer)
KFE_SCALAR(unsigned long, false, integer) KFE_SCALAR(long long, false, integer)
KFE_SCALAR(unsigned long long, false, integer) KFE_SCALAR(short, false, integer);
// clang-format on
KFE_SCALAR(unsigned short, false, integer) KFE_SCALAR(bool, false, integer) KFE_SCALAR(float, true, real);
#undef KFE_SCALAR
template <class T>
struct plain {
  typedef T type;
};
template <class T>
struct plain<const T> {
  typedef T type;
};

template <int n, class... P>
struct nth;
template <int n, class First, class... P>
struct nth<n, First, P...> : nth<n - 1, P...> {};
template <class First, class... P>
struct nth<0, First, P...> {
  typedef First type;
};

// Whether parameter n takes a value of the plan: `void*` stands for a buffer, integers must keep their size.
template <int n, class Given, class... P>
constexpr bool takes(void (*)(P...)) {
  if constexpr (n >= static_cast<int>(sizeof...(P))) {
    return false;
  } else {
    typedef typename plain<typename nth<n, P...>::type>::type T;
    if constexpr (__is_same(Given, void*)) return argument<T>::pointer;
    if constexpr (__is_same(Given, float)) return argument<T>::real;
    return argument<T>::integer && sizeof(T) <= sizeof(Given) && sizeof(T) >= (sizeof(Given) == 4 ? 1 : 8);
  }
}

template <int... I>
struct numbers {};
template <class Seq, Seq... I>
struct as_numbers {
  typedef numbers<static_cast<int>(I)...> type;
};

template <class... P, int... I>
__attribute__((always_inline)) inline void call_with(void (*kernel)(P...), const KfeArgument* a,
                                                     numbers<I...>) {
  kernel(argument<typename plain<P>::type>::from(a[I])...);
}
template <class... P>
__attribute__((always_inline)) inline void call(void (*kernel)(P...), const KfeArgument* a) {
  call_with(kernel, a, typename __make_integer_seq<as_numbers, int, sizeof...(P)>::type());
}

}  // namespace kfe

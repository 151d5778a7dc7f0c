// MSL's library, and how thunks call kernels: types come from the kernel, what each parameter is from its
// attribute.
#pragma once

#include "metal_atomic_shim.h"
#include "metal_matrix_shim.h"

namespace kfe {

template <class T>
struct element_of {
  static constexpr kfe_u32 bytes = sizeof(T);
};
template <class T, size_t n>
struct element_of<T[n]> : element_of<T> {};
template <class T>
inline T& shared(KfeSite& site) {
  kfe_u32 offset = __atomic_load_n(&site.offset, __ATOMIC_RELAXED);
  if (__builtin_expect(offset == 0, 0)) offset = kfe_place(&site);
  return *reinterpret_cast<T*>(kfe_shared_arena + offset);
}

template <class T>
struct pointed {
  typedef T* pointer;
  static T from(void* at) { return *static_cast<T*>(at); }
};
template <class T>
struct pointed<T*> {
  static T* from(void* at) { return static_cast<T*>(at); }
};
template <class T>
struct pointed<T&> {
  static T& from(void* at) { return *static_cast<T*>(at); }
};
template <int n>
struct buffer {
  template <class P>
  static P get(const KfeArgument* a) {
    return pointed<P>::from(a[n].pointer);
  }
};
template <int n>
struct threadgroup {
  static_assert(
      n == 0,
      "the plan's shared_bytes is [[threadgroup(0)]]; other arguments of threadgroup memory are not there");
  template <class P>
  static P get(const KfeArgument*) {
    return pointed<P>::from(kfe_dynamic_shared);
  }
};
// uint, ushort, uint2, ushort3, ... of three sizes.
template <class P>
inline P indices(kfe_u32 x, kfe_u32 y, kfe_u32 z) {
  typedef bare_t<P> V;
  if constexpr (is_vector<V>) {
    V out{};
    const kfe_u32 all[3] = {x, y, z};
    for (int i = 0; i < shape<V>::count && i < 3; ++i)
      out[i] = static_cast<typename shape<V>::element>(all[i]);
    return out;
  } else {
    return static_cast<V>(x);
  }
}
#define KFE_ATTRIBUTE(name, ...)       \
  struct name {                        \
    template <class P>                 \
    static P get(const KfeArgument*) { \
      return indices<P>(__VA_ARGS__);  \
    }                                  \
  };
#define KFE_OF(index) index.x, index.y, index.z
// clang-format off
KFE_ATTRIBUTE(thread_position_in_threadgroup, KFE_OF(kfe_thread_index))
KFE_ATTRIBUTE(threadgroup_position_in_grid, KFE_OF(kfe_block_index))
KFE_ATTRIBUTE(threads_per_threadgroup, KFE_OF(kfe_block_size))
KFE_ATTRIBUTE(dispatch_threads_per_threadgroup, KFE_OF(kfe_full_block))
KFE_ATTRIBUTE(threadgroups_per_grid, KFE_OF(kfe_grid_size))
KFE_ATTRIBUTE(threads_per_grid, KFE_OF(kfe_grid_threads))
KFE_ATTRIBUTE(thread_position_in_grid, kfe_block_index.x* kfe_full_block.x + kfe_thread_index.x, kfe_block_index.y* kfe_full_block.y + kfe_thread_index.y, kfe_block_index.z* kfe_full_block.z + kfe_thread_index.z)
KFE_ATTRIBUTE(thread_index_in_threadgroup, kfe_thread_number, 0, 0)
KFE_ATTRIBUTE(thread_index_in_simdgroup, kfe_thread_number % 32, 0, 0)
KFE_ATTRIBUTE(simdgroup_index_in_threadgroup, kfe_thread_number / 32, 0, 0)
KFE_ATTRIBUTE(simdgroups_per_threadgroup, (kfe_block_size.x * kfe_block_size.y * kfe_block_size.z + 31) / 32, 0, 0)
KFE_ATTRIBUTE(dispatch_simdgroups_per_threadgroup, (kfe_full_block.x * kfe_full_block.y * kfe_full_block.z + 31) / 32, 0, 0)
KFE_ATTRIBUTE(threads_per_simdgroup, 32, 0, 0) KFE_ATTRIBUTE(thread_execution_width, 32, 0, 0)
KFE_ATTRIBUTE(thread_index_in_quadgroup, kfe_thread_number % 4, 0, 0)
KFE_ATTRIBUTE(quadgroup_index_in_threadgroup, kfe_thread_number / 4, 0, 0)
KFE_ATTRIBUTE(quadgroup_index_in_simdgroup, kfe_thread_number % 32 / 4, 0, 0);
// clang-format on
KFE_ATTRIBUTE(grid_origin, 0, 0, 0);
#undef KFE_ATTRIBUTE
#undef KFE_OF

template <class... Sources, class... P>
__attribute__((always_inline)) inline void call(void (*kernel)(P...), const KfeArgument* a) {
  kernel(Sources::template get<P>(a)...);
}

template <int n, class... P>
struct nth;
template <int n, class First, class... P>
struct nth<n, First, P...> : nth<n - 1, P...> {};
template <class First, class... P>
struct nth<0, First, P...> {
  typedef First type;
};
template <class T>
inline constexpr bool by_address = false;
template <class T>
inline constexpr bool by_address<T*> = true;
template <class T>
inline constexpr bool by_address<T&> = true;
// Buffers and bytes alike come by address.
template <int n, class Given, class... P>
constexpr bool takes(void (*)(P...)) {
  if constexpr (n < static_cast<int>(sizeof...(P)))
    return by_address<typename nth<n, P...>::type>;
  else
    return false;
}

}  // namespace kfe

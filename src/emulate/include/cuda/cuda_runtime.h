// CUDA's device side as plain C++ on the emulator's runtime. Read before every candidate, as nvcc does with
// its own.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kforge/call_kernel.h"
#include "kforge/device_api.h"
#include "math.h"
#include "string.h"
#include "vector_types.h"

// __shared__, __global__ and __constant__ are left for the rewriter.
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __maxnreg__(n)
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000

// Objects and not macros: a kernel may have a variable of the same name.
extern __thread const uint3 threadIdx __asm__("kfe_thread_index") __attribute__((tls_model("initial-exec")));
extern __thread const uint3 blockIdx __asm__("kfe_block_index") __attribute__((tls_model("initial-exec")));
extern __thread const dim3 blockDim __asm__("kfe_full_block") __attribute__((tls_model("initial-exec")));
extern __thread const dim3 gridDim __asm__("kfe_grid_size") __attribute__((tls_model("initial-exec")));
inline constexpr int warpSize = KFE_LANES;

namespace kfe {
template <class To, class From>
inline To bits(From from) {
  return __builtin_bit_cast(To, from);
}
// A shared variable of this declaration.
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
}  // namespace kfe

#include "cuda_atomics.h"
#include "cuda_intrinsics.h"
#include "cuda_ptx.h"
#include "cuda_warp.h"

inline void __syncthreads(KFE_WHERE) { kfe_barrier(file, line); }
inline int __syncthreads_count(int predicate, KFE_WHERE) {
  return kfe_barrier_vote(KFE_COUNT, predicate, file, line);
}
inline int __syncthreads_and(int predicate, KFE_WHERE) {
  return kfe_barrier_vote(KFE_AND, predicate, file, line);
}
inline int __syncthreads_or(int predicate, KFE_WHERE) {
  return kfe_barrier_vote(KFE_OR, predicate, file, line);
}
inline void __threadfence() { kfe_fence(); }
inline void __threadfence_block() { kfe_fence_block(); }
inline void __threadfence_system() { kfe_fence(); }
inline void __nanosleep(unsigned) { kfe_yield(); }
inline void __trap(KFE_WHERE) { kfe_trap("__trap()", file, line); }
inline void __brkpt() {}
inline long long clock64() { return static_cast<long long>(kfe_clock()); }
inline int clock() { return static_cast<int>(kfe_clock()); }

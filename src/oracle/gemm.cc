// The inner loop of every matrix product, compiled for plain x86-64 and for AVX2 and chosen when the program
// starts. Fused multiply-add is not used (see CMakeLists.txt): the yardstick rounds every product.
#include "oracle/gemm.h"

namespace kforge {
namespace {

template <class F>
[[gnu::always_inline]] inline void multiply_tile_of(std::int64_t depth, const F* a, const F* b, F* c,
                                                    std::int64_t row_stride) {
  typedef F V __attribute__((vector_size(32)));  // the compiler splits it where registers are narrower
  typedef F Unaligned __attribute__((vector_size(32), aligned(sizeof(F)), may_alias));
  constexpr std::int64_t kLanes = 32 / sizeof(F);
  static_assert(kTileRows == 4 && kTileColumns<F> == 2 * kLanes);
  auto at = [](const F* p) { return reinterpret_cast<const Unaligned*>(p); };
  auto to = [](F* p) { return reinterpret_cast<Unaligned*>(p); };
  V sum[kTileRows][2];
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < kTileRows; ++i) {
    sum[i][0] = *at(c + i * row_stride);
    sum[i][1] = *at(c + i * row_stride + kLanes);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    const V b0 = *at(b + k * 2 * kLanes), b1 = *at(b + k * 2 * kLanes + kLanes);
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < kTileRows; ++i) {
      const F factor = a[k * kTileRows + i];
      sum[i][0] += factor * b0;
      sum[i][1] += factor * b1;
    }
  }
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < kTileRows; ++i) {
    *to(c + i * row_stride) = sum[i][0];
    *to(c + i * row_stride + kLanes) = sum[i][1];
  }
}

}  // namespace

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KF_FOR_EACH_CPU [[gnu::target_clones("avx2", "default")]]
#else
#define KF_FOR_EACH_CPU  // sanitizers are not ready when the choice would be made
#endif

KF_FOR_EACH_CPU void multiply_tile(std::int64_t depth, const double* a, const double* b, double* c,
                                   std::int64_t row_stride) {
  multiply_tile_of(depth, a, b, c, row_stride);
}
KF_FOR_EACH_CPU void multiply_tile(std::int64_t depth, const float* a, const float* b, float* c,
                                   std::int64_t row_stride) {
  multiply_tile_of(depth, a, b, c, row_stride);
}

}  // namespace kforge

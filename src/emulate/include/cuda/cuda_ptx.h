// The instructions that people write as inline PTX; rewrite_ptx.cc puts these calls in their place. Addresses
// of shared memory are offsets, as __cvta_generic_to_shared gives them.
#pragma once

#include "cuda_warp.h"

namespace kfe {

inline char* shared_at(unsigned offset) { return kfe_shared_arena + offset; }

// A lane's bytes, from all lanes: 16 at a time.
template <class T, int n>
inline void gather(const T (&mine)[n], T (&all)[KFE_LANES][n], const char* file, int line) {
  constexpr int bytes = sizeof(T) * n;
  for (int at = 0; at < bytes; at += KFE_VALUE_BYTES) {
    const int part = bytes - at < KFE_VALUE_BYTES ? bytes - at : KFE_VALUE_BYTES;
    const KfeLanes* lanes = kfe_meet(~0u, KFE_MATRIX, reinterpret_cast<const char*>(mine) + at,
                                     static_cast<kfe_u32>(part), file, line);
    for (int lane = 0; lane < KFE_LANES; ++lane)
      __builtin_memcpy(reinterpret_cast<char*>(all[lane]) + at, lanes->value[lane],
                       static_cast<size_t>(part));
  }
}

struct ptx_f16 {
  static float from(unsigned short bits) { return static_cast<float>(__builtin_bit_cast(_Float16, bits)); }
  static unsigned short to(float x) { return __builtin_bit_cast(unsigned short, static_cast<_Float16>(x)); }
};
struct ptx_bf16 {
  static float from(unsigned short bits) {
    return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
  }
};
template <class Format>
inline float half_of(unsigned pair, int which) {
  return Format::from(static_cast<unsigned short>(pair >> (16 * which)));
}

// d (16 x 8) += a (16 x 8 k) b (8 k x 8): lane l holds rows l / 4 and l / 4 + 8 of a and d, column l / 4 of
// b.
template <class Format, int ka, int kb>
inline void mma_rows(float (&sum)[4], const unsigned (&a)[ka], const unsigned (&b)[kb], const char* file,
                     int line) {
  unsigned all_a[KFE_LANES][ka], all_b[KFE_LANES][kb];
  gather(a, all_a, file, line);
  gather(b, all_b, file, line);
  const unsigned group = lane() / 4, place = lane() % 4;
  for (int k = 0; k < 8 * kb; ++k) {
    const unsigned owner = static_cast<unsigned>(k % 8 / 2);
    for (int i = 0; i < 4; ++i) {
      const unsigned column = place * 2 + static_cast<unsigned>(i % 2);
      const float x = half_of<Format>(all_a[group * 4 + owner][i / 2 + 2 * (k / 8)], k % 2);
      const float y = half_of<Format>(all_b[column * 4 + owner][k / 8], k % 2);
      sum[i] += x * y;
    }
  }
}
template <class Format>
inline void ptx_mma_m16n8k16(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1,
                             unsigned a2, unsigned a3, unsigned b0, unsigned b1, float c0, float c1, float c2,
                             float c3, KFE_WHERE) {
  float sum[4] = {c0, c1, c2, c3};
  const unsigned a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};
  mma_rows<Format>(sum, a, b, file, line);
  d0 = sum[0], d1 = sum[1], d2 = sum[2], d3 = sum[3];
}
// With halves as accumulators.
template <class Format>
inline void ptx_mma_m16n8k16(unsigned& d0, unsigned& d1, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                             unsigned b0, unsigned b1, unsigned c0, unsigned c1, KFE_WHERE) {
  float sum[4] = {half_of<Format>(c0, 0), half_of<Format>(c0, 1), half_of<Format>(c1, 0),
                  half_of<Format>(c1, 1)};
  const unsigned a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};
  mma_rows<Format>(sum, a, b, file, line);
  d0 = Format::to(sum[0]) | static_cast<unsigned>(Format::to(sum[1])) << 16;
  d1 = Format::to(sum[2]) | static_cast<unsigned>(Format::to(sum[3])) << 16;
}
template <class Format>
inline void ptx_mma_m16n8k8(float& d0, float& d1, float& d2, float& d3, unsigned a0, unsigned a1, unsigned b0,
                            float c0, float c1, float c2, float c3, KFE_WHERE) {
  float sum[4] = {c0, c1, c2, c3};
  const unsigned a[2] = {a0, a1}, b[1] = {b0};
  mma_rows<Format>(sum, a, b, file, line);
  d0 = sum[0], d1 = sum[1], d2 = sum[2], d3 = sum[3];
}

// Matrices of 8 x 8 halves; row r of matrix m begins at the address that lane 8 m + r brings.
template <bool transposed, class... Registers>
inline void load_matrices(unsigned address, const char* file, int line, Registers&... registers) {
  unsigned mine[1] = {address}, all[KFE_LANES][1];
  gather(mine, all, file, line);
  const unsigned row = lane() / 4, pair = lane() % 4 * 2;
  unsigned matrix = 0;
  auto load = [&](auto& out) {
    if constexpr (transposed) {
      const auto at = [&](unsigned r) {
        return static_cast<unsigned>(
            *reinterpret_cast<unsigned short*>(shared_at(all[matrix * 8 + r][0]) + 2 * row));
      };
      out = at(pair) | at(pair + 1) << 16;
    } else {
      out = *reinterpret_cast<unsigned*>(shared_at(all[matrix * 8 + row][0]) + 2 * pair);
    }
    ++matrix;
  };
  (load(registers), ...);
}
template <bool transposed>
inline void ptx_ldmatrix(unsigned& r0, unsigned address, KFE_WHERE) {
  load_matrices<transposed>(address, file, line, r0);
}
template <bool transposed>
inline void ptx_ldmatrix(unsigned& r0, unsigned& r1, unsigned address, KFE_WHERE) {
  load_matrices<transposed>(address, file, line, r0, r1);
}
template <bool transposed>
inline void ptx_ldmatrix(unsigned& r0, unsigned& r1, unsigned& r2, unsigned& r3, unsigned address,
                         KFE_WHERE) {
  load_matrices<transposed>(address, file, line, r0, r1, r2, r3);
}

// Copies to shared memory are made when the thread waits for them.
inline void ptx_cp_async(unsigned to, const void* from, int bytes, int given) {
  kfe_copy_async(shared_at(to), from, static_cast<unsigned>(bytes), static_cast<unsigned>(given));
}
inline void ptx_cp_async(unsigned to, const void* from, int bytes) { ptx_cp_async(to, from, bytes, bytes); }
inline void ptx_cp_async(unsigned to, unsigned long from, int bytes) {
  ptx_cp_async(to, reinterpret_cast<const void*>(from), bytes);
}
inline void ptx_cp_async(unsigned to, unsigned long from, int bytes, int given) {
  ptx_cp_async(to, reinterpret_cast<const void*>(from), bytes, given);
}
inline void ptx_commit_group() { kfe_copy_commit(); }
inline void ptx_wait_group(int left) { kfe_copy_wait(static_cast<unsigned>(left)); }
inline void ptx_wait_all() { kfe_copy_wait_all(); }

template <class T>
inline void ptx_laneid(T& out) {
  out = static_cast<T>(lane());
}
template <class T>
inline void ptx_warpid(T& out) {
  out = static_cast<T>(kfe_thread_number / KFE_LANES);
}
inline void ptx_bar_sync(int, KFE_WHERE) { kfe_barrier(file, line); }
inline void ptx_fence() { kfe_fence(); }
inline void ptx_fence_block() { kfe_fence_block(); }
inline void ptx_ex2(float& out, float x) { out = exp2f(x); }
inline void ptx_lg2(float& out, float x) { out = log2f(x); }
inline void ptx_rcp(float& out, float x) { out = 1.0f / x; }
inline void ptx_rsqrt(float& out, float x) { out = 1.0f / sqrtf(x); }
inline void ptx_sqrt(float& out, float x) { out = sqrtf(x); }
inline void ptx_sin(float& out, float x) { out = sinf(x); }
inline void ptx_cos(float& out, float x) { out = cosf(x); }
inline void ptx_tanh(float& out, float x) { out = tanhf(x); }
inline void ptx_fma(float& out, float a, float b, float c) { out = fmaf(a, b, c); }

}  // namespace kfe

// gemm_scale_leakyrelu
//
// product_product_kernel: tile 8x32, blocks 16x32x24, a in_place, b prepare, 2 threads
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "task.h"

namespace {

// One vector of floats, as wide as the machine has them. Everything below works on a vector (F = Vec) and on a
// single element (F = float), so that loops and what is left over at their ends share one body.
#if defined(__AVX512F__)
constexpr long kLanes = 16;
#elif defined(__AVX__)
constexpr long kLanes = 8;
#else
constexpr long kLanes = 4;
#endif
typedef float Vec __attribute__((vector_size(kLanes * 4)));
typedef int IVec __attribute__((vector_size(kLanes * 4)));
typedef float VecAt __attribute__((vector_size(kLanes * 4), aligned(4), may_alias));

template <class F> struct Of { using I = int; using Mask = bool; };
template <> struct Of<Vec> { using I = IVec; using Mask = IVec; };
template <class F> using Int = typename Of<F>::I;

#define SMITH_INLINE inline __attribute__((always_inline))

template <class F> SMITH_INLINE F set(float x) { if constexpr (sizeof(F) == 4) return x; else return Vec{} + x; }
template <class F> SMITH_INLINE F load(const float* p) { if constexpr (sizeof(F) == 4) return *p; else return *(const VecAt*)p; }
SMITH_INLINE void store(float* p, float x) { *p = x; }
SMITH_INLINE void store(float* p, Vec x) { *(VecAt*)p = x; }
SMITH_INLINE float pick(bool c, float a, float b) { return c ? a : b; }
SMITH_INLINE Vec pick(IVec c, Vec a, Vec b) { return c ? a : b; }
SMITH_INLINE Vec pick(bool c, Vec a, Vec b) { return c ? a : b; }


// Memory that outlives a call: intermediate tensors, and what depends on params only.
struct State {
  const float* w;
  const float* bias;
  float* product_product;
  float* product_product_packed;
  float* product_product_scratch;
};

void* allocated(size_t bytes) {
  const size_t whole = (bytes + 4095) / 4096 * 4096;
  void* p = std::aligned_alloc(4096, whole);
  if (p) std::memset(p, 0, whole);  // pages are touched here, not in the first call
  return p;
}

}  // namespace

// y (Gemm_0)
// c[16][32] = sum over k = 24 of a * b: 2.46e-05 Gflop, limited by arithmetic unless a dimension is small.
//
// Registers: a tile of 8 rows x 2 vectors of 16 holds 16 sums.
// Operands: a is read where it lies; b is packed once in prepare().
// Caches: 24 steps of k of a panel of b (3 KB) stay in L1 for all 16 rows of a block;
// k is walked in one go, so sums never leave the registers unfinished.
// Threads: 2 share 1 blocks.
namespace product_product_kernel {

struct Tensors {
  const float* bias_;
  const float* w_;
  const float* x_;
  float* y_;
};

constexpr long kM = 16, kN = 32, kK = 24, kBatch = 1;
constexpr int kLanes = 16, kVectors = 2, kRows = 8;
constexpr long kTileN = kVectors * kLanes;
constexpr long kBlockK = 24;
constexpr long kRowPanels = 2, kColumnPanels = 1;
constexpr long kBlockRowPanels = 2, kBlockColumnPanels = 1;
constexpr int kThreads = 2;
constexpr long kPreparedFloats = 768, kScratchFloats = 0;

// 16 floats that one instruction handles; Loose is the same in memory at any address.
typedef float Vec __attribute__((vector_size(64)));
typedef float Loose __attribute__((vector_size(64), aligned(4), may_alias));
inline Vec load_vec(const float* p) { return *reinterpret_cast<const Loose*>(p); }
inline void store_vec(float* p, Vec v) { *reinterpret_cast<Loose*>(p) = v; }
// The first `count` of them, zeros behind: never reads past the end of a tensor.
inline Vec load_first(const float* p, long count) {
  Vec v = {};
  for (long i = 0; i < count; ++i) v[i] = p[i];
  return v;
}
inline float to_float(float x) { return x; }
inline float to_float(uint16_t bf16) {
  const uint32_t bits = static_cast<uint32_t>(bf16) << 16;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
template <class T>
inline float to_float(T x) { return static_cast<float>(x); }

inline long panel_row(long panel) { return panel * kRows; }
inline int panel_rows(long) { return kRows; }
inline long panel_column(long panel) { return panel * kTileN; }
inline bool is_edge(long panel) { return panel == kColumnPanels - 1; }
inline long panel_columns(long) { return kTileN; }
inline long a_batch(long i) { (void)i; return 0; }
inline long a_side(long i) { (void)i; return i * 24; }
inline long a_depth(long i) { (void)i; return i; }
constexpr long kASide = 24;
constexpr long kADepth = 1;
inline long b_batch(long i) { (void)i; return 0; }
inline long b_side(long i) { (void)i; return i * 24; }
inline long b_depth(long i) { (void)i; return i; }
constexpr long kBSide = 24;
constexpr long kBDepth = 1;

// Transposes a square of 16 x 16: interleaving the first half of the rows with the second, 4 times over.
inline void transpose_square(const float* in, long in_stride, float* out, long out_stride) {
  Vec row[16], next[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) row[i] = load_vec(in + i * in_stride);
#pragma GCC unroll 4
  for (int round = 0; round < 4; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < 8; ++i) {
      next[2 * i] = __builtin_shufflevector(row[i], row[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] = __builtin_shufflevector(row[i], row[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) row[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) store_vec(out + i * out_stride, row[i]);
}

// One panel of b: out[k][j] for its columns j; zeros where there are fewer than kTileN.
void pack_b_panel(const Tensors& t, long batch, long panel, float* out) {
  const float* const w_ = t.w_;
  const long column0 = panel * kTileN;
  {
    const float* const source = w_ + b_batch(batch) + b_side(column0);
    for (long depth = 0; depth + kLanes <= kK; depth += kLanes)
      for (int j = 0; j < kVectors; ++j)
        transpose_square(source + b_side(j * kLanes) + depth, kBSide, out + depth * kTileN + j * kLanes, kTileN);
    for (long depth = kK / kLanes * kLanes; depth < kK; ++depth)
      for (long j = 0; j < kTileN; ++j) out[depth * kTileN + j] = source[b_side(j) + depth];
    return;
  }
  (void)batch;
}

// c (+)= a * b for a tile of rows x (vectors * kLanes), over `depth` steps of k. All sums live in registers: per step
// 2 vectors of b are loaded and 12 values of a broadcast for 24 multiply-adds.
template <int rows, int vectors>
inline void multiply_tile(long depth, const float* a, const float* b, bool first, float* c, long c_stride) {
  Vec sum[rows][vectors];
  if (first) {
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < vectors; ++j) sum[i][j] = Vec{};
  } else {
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < vectors; ++j) sum[i][j] = load_vec(c + i * c_stride + j * kLanes);
  }
  for (long k = 0; k < depth; ++k) {
    const float* const right = b + k * kTileN;
    Vec column[vectors];
#pragma GCC unroll 16
    for (int j = 0; j < vectors; ++j)
      column[j] = load_vec(right + j * kLanes);
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i) {
      const float left = a[i * kASide + k * kADepth];
#pragma GCC unroll 16
      for (int j = 0; j < vectors; ++j) sum[i][j] += left * column[j];
    }
  }
#pragma GCC unroll 32
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < vectors; ++j) store_vec(c + i * c_stride + j * kLanes, sum[i][j]);
}

// Rows are dealt out so that all panels have 8 rows; only the last columns of a run may need a narrower tile.
inline void multiply_any(int rows, bool edge, long depth, const float* a, const float* b, bool first, float* c,
                         long c_stride) {
  {
    return multiply_tile<8, 2>(depth, a, b, first, c, c_stride);
  }
}

// Finished sums become the result: y (Gemm_0)
inline void finish_tile(const Tensors& t, long batch, long row0, long column0, const float* sums, long stride, int rows,
                        long columns) {
  const float* const bias_ = t.bias_;
  float* const y_ = t.y_;
  for (int i = 0; i < rows; ++i) {
    const long row = row0 + i;
    long j = 0;
    for (; j + kLanes <= columns; j += kLanes) {
      const long column = column0 + j;
      const float* const sum_at = sums + i * stride + j - column;
      using F = Vec;
      const auto sum_at_1 = load<F>(sum_at + column);
      const auto bias__2 = load<F>(bias_ + column);
      const auto t3 = (sum_at_1 + bias__2) * 2.0f;
      store(y_ + row * 32 + column, pick((t3 < 0.0f), 0.1f * t3, t3));
    }
  }
  (void)batch;
}

// All sums of one block: rows of panels [first_panel, last_panel), columns of panels [first_column, last_column).
void multiply_block(const Tensors& t, long batch, long first_panel, long last_panel, long first_column, long last_column, const float* packed_b) {
  alignas(64) float sums[kRows * kTileN];
  {
    constexpr long k0 = 0, depth = kK;
    for (long column_panel = first_column; column_panel < last_column; ++column_panel) {
      const long column = panel_column(column_panel);
      const float* const b = packed_b + column_panel * kTileN * kK + k0 * kTileN;
      for (long panel = first_panel; panel < last_panel; ++panel) {
        const long row = panel_row(panel);
        const int rows = panel_rows(panel);
        const float* const a = t.x_ + a_batch(batch) + a_side(row) + a_depth(k0);
        multiply_any(rows, is_edge(column_panel), depth, a, b, true, sums, kTileN);
        finish_tile(t, batch, row, column, sums, kTileN, rows, panel_columns(column_panel));
      }
    }
  }
}

// Panels of operands that do not change between calls.
void prepare(const Tensors& t, float* prepared) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < 1 * kColumnPanels; ++i)
    pack_b_panel(t, 0, i % kColumnPanels, prepared + 0 + i * kTileN * kK);
}

// Called by every thread of a team of at most kThreads.
void work(const Tensors& t, const float* prepared, float* scratch) {
  const float* const packed_b = prepared + 0;
#pragma omp for schedule(dynamic) collapse(3)
    for (long batch = 0; batch < kBatch; ++batch)
      for (long first_column = 0; first_column < kColumnPanels; first_column += kBlockColumnPanels)
        for (long first_panel = 0; first_panel < kRowPanels; first_panel += kBlockRowPanels) {
          const long last_column = first_column + kBlockColumnPanels < kColumnPanels ? first_column + kBlockColumnPanels : kColumnPanels;
          const long last_panel = first_panel + kBlockRowPanels < kRowPanels ? first_panel + kBlockRowPanels : kRowPanels;
          multiply_block(t, batch, first_panel, last_panel, first_column, last_column, packed_b);
        }
  (void)prepared;
  (void)scratch;
}

void run(const Tensors& t, const float* prepared, float* scratch) {
#pragma omp parallel num_threads(kThreads)
  work(t, prepared, scratch);
}

}  // namespace product_product_kernel

extern "C" void* prepare(const float* __restrict w, const float* __restrict bias) {
  State* state = new State();
  State& s = *state;
  s.w = w;
  s.bias = bias;
  float* product_product = s.product_product = (float*)allocated(2048);
  float* product_product_packed = s.product_product_packed = (float*)allocated(3072);
  float* product_product_scratch = s.product_product_scratch = (float*)allocated(4);
  (void)product_product;
  (void)product_product_packed;
  (void)product_product_scratch;
  product_product_kernel::prepare({bias, w, nullptr, nullptr}, product_product_packed);
  return state;
}

extern "C" void kernel_prepared(void* state, const float* __restrict x, float* __restrict y) {
  State& s = *(State*)state;
  const float* __restrict w = s.w;
  (void)w;
  const float* __restrict bias = s.bias;
  (void)bias;
  float* __restrict product_product = s.product_product;
  (void)product_product;
  float* __restrict product_product_packed = s.product_product_packed;
  (void)product_product_packed;
  float* __restrict product_product_scratch = s.product_product_scratch;
  (void)product_product_scratch;
#pragma omp parallel
  {
    // Gemm_0: contraction with its epilogue
    product_product_kernel::work({bias, w, x, y}, product_product_packed, product_product_scratch);
  }
}

extern "C" void release(void* state) {
  State& s = *(State*)state;
  std::free(s.product_product);
  std::free(s.product_product_packed);
  std::free(s.product_product_scratch);
  delete &s;
}

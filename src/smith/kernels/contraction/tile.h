// The micro-kernel, and what becomes of its sums.
#pragma once

#include "smith/kernels/contraction/config.h"

namespace {

// Finished sums become the result: `rows` x `columns` of them.
template <class P>
SMITH_INLINE void finish_tile(const typename P::Tensors& tensors, long batch, long row0, long column0,
                              const float* sums, long stride, int rows, long columns) {
  const typename P::Tensors t = tensors;  // a copy that no store of a result can change
  for (int i = 0; i < rows; ++i) {
    const float* const sum_at = sums + i * stride - column0;
    long j = 0;
    for (; j + kLanes <= columns; j += kLanes) P::finish_vector(t, batch, row0 + i, column0 + j, sum_at);
    if constexpr (P::kAnyWidth || P::kEdge % kLanes != 0)
      for (j = columns - columns % kLanes; j < columns; ++j)
        P::finish_element(t, batch, row0 + i, column0 + j, sum_at);
  }
}

// The first `count` floats, zeros behind: never reads past the end of a tensor.
SMITH_INLINE Vec load_first(const float* p, long count) {
  Vec v = {};
  for (long i = 0; i < count; ++i) v[i] = p[i];
  return v;
}

template <class P>
struct Tile {
  using Tensors = typename P::Tensors;
  static constexpr int kEdgeVectors = (P::kEdge + kLanes - 1) / kLanes;
  static constexpr bool kHasEdge = kEdgeVectors != P::kVectors || P::kGuarded;
  static constexpr bool kTwoHeights = P::kTallPanels < P::kRowPanels;
  // Steps of k in one chain of sums. The error of a chain grows with its length; longer sums are made of
  // several, as they are where k is walked in slices.
  static constexpr long kChain = 256;

  static SMITH_INLINE float left(const float* a, long k, int i, int rows) {
    if constexpr (P::kPackA == Pack::kInPlace)
      return a[i * P::kASide + k * P::kADepth];
    else
      return a[k * rows + i];
  }
  static SMITH_INLINE const float* right(const float* b, long k, const int* offsets) {
    if constexpr (P::kPackB != Pack::kInPlace)
      return b + k * P::kTileN;
    else if constexpr (P::kOffsetTable)
      return b + offsets[k];
    else
      return b + k * P::kBDepth;
  }

  // c (+)= a * b for a tile of rows x (vectors * kLanes), over `depth` steps of k. All sums live in
  // registers: per step `vectors` vectors of b are loaded and `rows` values of a broadcast.
  template <int rows, int vectors, bool guarded>
  static inline void multiply(long depth, const float* a, const float* b, const int* offsets, bool first,
                              float* c, long c_stride) {
    Vec sum[rows][vectors];
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i) {
      if (!first) __builtin_prefetch(c + i * c_stride, 1);
#pragma GCC unroll 16
      for (int j = 0; j < vectors; ++j) sum[i][j] = Vec{};
    }
    for (long k = 0; k < depth; ++k) {
      const float* const from = right(b, k, offsets);
      if constexpr (P::kStreamsB)
        for (long j = 0; j < P::kTileN; j += 16) __builtin_prefetch(from + 512 + j);
      Vec column[vectors];
#pragma GCC unroll 16
      for (int j = 0; j < vectors; ++j)
        column[j] = guarded && j == vectors - 1 ? load_first(from + j * kLanes, P::kEdge % kLanes)
                                                : load<Vec>(from + j * kLanes);
#pragma GCC unroll 32
      for (int i = 0; i < rows; ++i) {
        const float x = left(a, k, i, rows);
#pragma GCC unroll 16
        for (int j = 0; j < vectors; ++j) sum[i][j] += x * column[j];
      }
    }
    if (!first)
#pragma GCC unroll 32
      for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
        for (int j = 0; j < vectors; ++j) sum[i][j] += load<Vec>(c + i * c_stride + j * kLanes);
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < vectors; ++j) store(c + i * c_stride + j * kLanes, sum[i][j]);
  }

  // A tile of `rows` rows; at the edge, of the last columns of a run. Functions of their own (here and
  // below): constants of what surrounds them must not take registers from the sums.
  static __attribute__((noinline)) void multiply_any(int rows, bool edge, long depth, const float* a,
                                                     const float* b, const int* offsets, bool first, float* c,
                                                     long c_stride) {
    if (!kTwoHeights || rows == P::kRows)
      return multiply_rows<P::kRows>(edge, depth, a, b, offsets, first, c, c_stride);
    if constexpr (kTwoHeights) multiply_rows<P::kRows - 1>(edge, depth, a, b, offsets, first, c, c_stride);
  }

  // One tile from the first product to the result. All sizes are known, so sums need not pass through memory.
  static __attribute__((noinline)) void whole_any(int rows, bool edge, const Tensors& t, long batch, long row,
                                                  long column, long depth, const float* a, const float* b,
                                                  const int* offsets) {
    if (!kTwoHeights || rows == P::kRows)
      return whole_rows<P::kRows>(edge, t, batch, row, column, depth, a, b, offsets);
    if constexpr (kTwoHeights) whole_rows<P::kRows - 1>(edge, t, batch, row, column, depth, a, b, offsets);
  }

 private:
  template <int rows>
  static SMITH_INLINE void multiply_rows(bool edge, long depth, const float* a, const float* b,
                                         const int* offsets, bool first, float* c, long c_stride) {
    if constexpr (kHasEdge)
      if (edge || P::kPanelsPerRun == 1)
        return multiply<rows, kEdgeVectors, P::kGuarded>(depth, a, b, offsets, first, c, c_stride);
    if constexpr (!kHasEdge || P::kPanelsPerRun > 1)
      multiply<rows, P::kVectors, false>(depth, a, b, offsets, first, c, c_stride);
  }

  template <int rows>
  static SMITH_INLINE void whole_rows(bool edge, const Tensors& t, long batch, long row, long column,
                                      long depth, const float* a, const float* b, const int* offsets) {
    constexpr bool narrow = kHasEdge || P::kEdge != P::kTileN;
    if constexpr (narrow)
      if (edge || P::kPanelsPerRun == 1)
        return whole<rows, kEdgeVectors, P::kEdge, P::kGuarded>(t, batch, row, column, depth, a, b, offsets);
    if constexpr (!narrow || P::kPanelsPerRun > 1)
      whole<rows, P::kVectors, P::kTileN, false>(t, batch, row, column, depth, a, b, offsets);
  }

  template <int rows, int vectors, long columns, bool guarded>
  static inline void whole(const Tensors& t, long batch, long row, long column, long depth, const float* a,
                           const float* b, const int* offsets) {
    alignas(64) float sums[rows * P::kTileN];
    // Elements of a vector that are finished one by one: the compiler loses sight of the store, and warns.
    if constexpr (columns % kLanes != 0) __builtin_memset(sums, 0, sizeof sums);
    if constexpr (P::kK <= kChain + kChain / 2) {
      multiply<rows, vectors, guarded>(depth, a, b, offsets, true, sums, P::kTileN);
    } else {
      for (long k0 = 0; k0 < depth; k0 += kChain) {
        const long steps = depth - k0 < kChain ? depth - k0 : kChain;
        const float* const left_at = a + k0 * (P::kPackA == Pack::kInPlace ? P::kADepth : rows);
        const bool table = P::kOffsetTable && P::kPackB == Pack::kInPlace;
        multiply<rows, vectors, guarded>(steps, left_at, table ? b : right(b, k0, offsets),
                                         table ? offsets + k0 : offsets, k0 == 0, sums, P::kTileN);
      }
    }
    finish_tile<P>(t, batch, row, column, sums, P::kTileN, rows, columns);
  }
};

}  // namespace

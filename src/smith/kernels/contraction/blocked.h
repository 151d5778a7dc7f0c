// A contraction by blocks: cache blocking around the register tile, packing, and the threads' shares.
#pragma once

#include <omp.h>

#include "smith/kernels/contraction/packing.h"
#include "smith/kernels/contraction/tile.h"
#include "smith/kernels/memory/stream.h"

namespace {

template <class P>
struct BlockedContraction {
  using Tensors = typename P::Tensors;

  // Panels of operands that do not change between calls.
  static void prepare(const Tensors& t, float* prepared) {
    if constexpr (P::kPackA == Pack::kPrepare)
#pragma omp parallel for schedule(static)
      for (long i = 0; i < P::kAItems * P::kRowPanels; ++i) pack_whole_a(t, i, prepared + P::kPackedA);
    if constexpr (P::kPackB == Pack::kPrepare)
#pragma omp parallel for schedule(static)
      for (long i = 0; i < P::kBItems * P::kColumnPanels; ++i) pack_whole_b(t, i, prepared + P::kPackedB);
  }

  // Called by every thread of a team of at most kThreads.
  static void work(const Tensors& t, const float* prepared, float* scratch) {
    Memory m;
    m.packed_a = (P::kPackA == Pack::kPrepare ? prepared : scratch) + P::kPackedA;
    m.packed_b = (P::kPackB == Pack::kPrepare ? prepared : scratch) + P::kPackedB;
    m.own = scratch + P::kThreadScratch + omp_get_thread_num() * P::kPerThread;
    m.staged = scratch + P::kAllStaged;
    pack_for_call(t, scratch);
    if constexpr (P::kSplits > 1)
      parts_of_k(t, m, scratch + P::kParts);
    else if constexpr (P::kStagePrivate)
      image_by_image(t, m);
    else
      block_by_block(t, m);
    if constexpr (P::kStream) stream_end();  // each thread makes its own non-temporal stores visible
  }

 private:
  using Rows = Panels<P>;
  struct Memory {
    const float *packed_a, *packed_b;
    const float* staged;  // one image, or all of them
    float* own;           // this thread's
  };
  // Panels [first_panel, last_panel) of rows, [first_column, last_column) of columns.
  struct Block {
    long batch, first_panel, last_panel, first_column, last_column;
    Block(long batch, long panel, long column)
        : batch(batch),
          first_panel(panel),
          last_panel(panel + P::kBlockRowPanels < P::kRowPanels ? panel + P::kBlockRowPanels : P::kRowPanels),
          first_column(column),
          last_column(column + P::kBlockColumnPanels < P::kColumnPanels ? column + P::kBlockColumnPanels
                                                                        : P::kColumnPanels) {}
  };
  static constexpr bool kDepthInSlices = P::kBlockK < P::kK;
  static constexpr bool kWholeTiles = !kDepthInSlices && P::kSplits == 1;
  static constexpr bool kShared = P::kStaged && !P::kStagePrivate;  // all images are copied first

  static SMITH_INLINE void pack_whole_a(const Tensors& t, long i, float* packed) {
    pack_a_panel<P>(t, P::a_batch_of(i / P::kRowPanels), i % P::kRowPanels, 0, P::kK,
                    packed + i * P::kRows * P::kK);
  }
  static SMITH_INLINE void pack_whole_b(const Tensors& t, long i, float* packed) {
    pack_b_panel<P>(t, P::b_batch_of(i / P::kColumnPanels), i % P::kColumnPanels, 0, P::kK,
                    packed + i * P::kTileN * P::kK);
  }

  // What is packed or copied by all threads together before the first product.
  static SMITH_INLINE void pack_for_call(const Tensors& t, float* scratch) {
    if constexpr (P::kPackA == Pack::kCall && P::kAItems == 1 && P::kLayoutA == Layout::kAlongSide) {
      // The rows of all panels lie side by side in a step of k: some steps of all of them, so that pages are
      // visited once.
#pragma omp for schedule(static) nowait
      for (long k0 = 0; k0 < P::kK; k0 += 64)
        for (long panel = 0; panel < P::kRowPanels; ++panel)
          pack_a_panel<P>(t, 0, panel, k0, P::kK - k0 < 64 ? P::kK - k0 : 64,
                          scratch + P::kPackedA + panel * P::kRows * P::kK + k0 * Rows::rows(panel));
    } else if constexpr (P::kPackA == Pack::kCall) {
#pragma omp for schedule(static) nowait
      for (long i = 0; i < P::kAItems * P::kRowPanels; ++i) pack_whole_a(t, i, scratch + P::kPackedA);
    }
    if constexpr (P::kPackB == Pack::kCall)
#pragma omp for schedule(static) nowait
      for (long i = 0; i < P::kBItems * P::kColumnPanels; ++i) pack_whole_b(t, i, scratch + P::kPackedB);
    if constexpr (kShared)
#pragma omp for schedule(static) nowait
      for (long i = 0; i < P::kStagedItems * P::kChannels; ++i)
        P::stage(t, i / P::kChannels, i % P::kChannels, i % P::kChannels + 1,
                 scratch + P::kAllStaged + i / P::kChannels * P::kStagedFloats);
    if constexpr (P::kPackA == Pack::kCall || P::kPackB == Pack::kCall || kShared) {
#pragma omp barrier
    }
  }

  // Blocks are shared out one by one: whoever is late (another process on its core) takes fewer.
  static SMITH_INLINE void block_by_block(const Tensors& t, const Memory& memory) {
#pragma omp for schedule(dynamic) collapse(3)
    for (long batch = 0; batch < P::kBatch; ++batch)
      for (long column = 0; column < P::kColumnPanels; column += P::kBlockColumnPanels)
        for (long panel = 0; panel < P::kRowPanels; panel += P::kBlockRowPanels) {
          Memory m = memory;
          m.staged += batch / P::kBatchesPerItem * P::kStagedFloats;
          multiply_block(t, Block(batch, panel, column), m, m.own + P::kSums, 0, P::kK);
        }
  }

  // Each thread copies an image and does all of its blocks while the copy is in its cache.
  static SMITH_INLINE void image_by_image(const Tensors& t, Memory m) {
    float* const staged = m.own + P::kOwnStaged;
    m.staged = staged;
#pragma omp for schedule(dynamic)
    for (long item = 0; item < P::kStagedItems; ++item) {
      P::stage(t, item, 0, P::kChannels, staged);
      for (long batch = item * P::kBatchesPerItem; batch < (item + 1) * P::kBatchesPerItem; ++batch)
        for (long column = 0; column < P::kColumnPanels; column += P::kBlockColumnPanels)
          for (long panel = 0; panel < P::kRowPanels; panel += P::kBlockRowPanels)
            multiply_block(t, Block(batch, panel, column), m, m.own + P::kSums, 0, P::kK);
    }
  }

  // Few blocks but a long k: its parts are summed apart, then added in their order (the result does not
  // depend on which thread did what).
  static SMITH_INLINE void parts_of_k(const Tensors& t, const Memory& m, float* parts) {
#pragma omp for schedule(static) collapse(4)
    for (long part = 0; part < P::kSplits; ++part)
      for (long batch = 0; batch < P::kBatch; ++batch)
        for (long column = 0; column < P::kColumnPanels; column += P::kBlockColumnPanels)
          for (long panel = 0; panel < P::kRowPanels; panel += P::kBlockRowPanels) {
            const long first_k = part * P::kPartK;
            multiply_block(t, Block(batch, panel, column), m,
                           parts + part * P::kPartFloats +
                               (batch * P::kM + Rows::row(panel)) * P::kPartStride + column * P::kTileN,
                           first_k, first_k + P::kPartK < P::kK ? first_k + P::kPartK : P::kK);
          }
#pragma omp for schedule(static)
    for (long i = 0; i < P::kBatch * P::kRowPanels; ++i) {
      const long batch = i / P::kRowPanels, row = Rows::row(i % P::kRowPanels);
      const int rows = Rows::rows(i % P::kRowPanels);
      float* const sums = parts + (batch * P::kM + row) * P::kPartStride;
      for (long part = 1; part < P::kSplits; ++part)
        for (long j = 0; j < rows * P::kPartStride; j += kLanes)
          store(sums + j, load<Vec>(sums + j) + load<Vec>(sums + part * P::kPartFloats + j));
      finish_tile<P>(t, batch, row, 0, sums, P::kPartStride, rows, P::kN);
    }
  }

  // Whether a row of taps, a slice of k, sees more than padding for some columns of a panel.
  static inline bool sees_image(long column_panel, long k0) {
    constexpr TapRows r = P::kTapRows;
    const long kd = k0 / P::kBlockK / r.taps[1], kh = k0 / P::kBlockK % r.taps[1];
    const long first = Rows::column(column_panel), last = first + Rows::columns(column_panel) - 1;
    for (long row = first / r.width; row <= last / r.width; ++row) {
      const long d = row / r.out[1] * r.strides[0] + kd * r.dilations[0] - r.begins[0];
      const long h = row % r.out[1] * r.strides[1] + kh * r.dilations[1] - r.begins[1];
      if (d >= 0 && d < r.input[0] && h >= 0 && h < r.input[1]) return true;
    }
    return false;
  }
  // Where the first such slice begins and the last one ends.
  struct Slices {
    long first, end;
  };
  static inline Slices slices_of(long column_panel) {
    Slices found = {0, 0};
    while (found.first + P::kBlockK < P::kK && !sees_image(column_panel, found.first))
      found.first += P::kBlockK;
    found.end = found.first + P::kBlockK;
    for (long k0 = found.first; k0 < P::kK; k0 += P::kBlockK)
      if (sees_image(column_panel, k0)) found.end = k0 + P::kBlockK;
    return found;
  }

  // Where one panel of an operand begins, at step k0.
  static SMITH_INLINE const float* a_panel(const Tensors& t, const Block& block, const Memory& m, long panel,
                                           long k0) {
    if constexpr (P::kPackA == Pack::kInPlace)
      return P::a(t) + P::a_batch(block.batch) + P::a_side(Rows::row(panel)) + P::a_depth(k0);
    else if constexpr (P::kPackA == Pack::kBlock)
      return m.own + P::kABlock + (panel - block.first_panel) * P::kRows * P::kBlockK;
    else
      return m.packed_a + (P::a_item(block.batch) * P::kRowPanels + panel) * P::kRows * P::kK +
             k0 * Rows::rows(panel);
  }
  static SMITH_INLINE const float* b_panel(const Tensors& t, const Block& block, const Memory& m,
                                           long column_panel, long k0) {
    if constexpr (P::kPackB == Pack::kBlock) {
      return m.own + P::kBBlock;
    } else if constexpr (P::kPackB == Pack::kInPlace) {
      const float* b = nullptr;
      if constexpr (P::kStaged)
        b = m.staged;
      else
        b = P::b(t);
      return b + P::b_batch(block.batch) + P::b_side(Rows::column(column_panel)) +
             (P::kOffsetTable ? 0 : P::b_depth(k0));
    } else {
      return m.packed_b + (P::b_item(block.batch) * P::kColumnPanels + column_panel) * P::kTileN * P::kK +
             k0 * P::kTileN;
    }
  }

  // Prefetches a share of `floats` floats: while one tile of several is multiplied, its part of what comes
  // next. kPlace: how near (3: L1, 2: L2).
  template <int kPlace>
  static SMITH_INLINE void fetch(const float* next, long floats, long share, long shares) {
    const long last = floats * (share + 1) / shares;
    for (long i = floats * share / shares; i < last; i += 16) __builtin_prefetch(next + i, 0, kPlace);
  }
  // The same for rows of b that are packed next.
  static SMITH_INLINE void fetch_rows_of_b(const Tensors& t, const Block& block, long column_panel, long k0,
                                           long depth, long share, long shares) {
    if (column_panel >= P::kColumnPanels) return;
    const float* const source =
        P::b(t) + P::b_batch(block.batch) + P::b_side(column_panel * P::kTileN) + P::b_depth(k0);
    const long last = depth * (share + 1) / shares;
    for (long i = depth * share / shares; i < last; ++i) {
      __builtin_prefetch(source + i * P::kBDepth, 0, 2);
      if constexpr (P::kBDepth % 16 != 0) __builtin_prefetch(source + i * P::kBDepth + P::kTileN - 1, 0, 2);
    }
  }

  // One tile over one slice of k. `slices`: all that its columns need.
  static SMITH_INLINE void one_tile(const Tensors& t, const Block& block, long panel, long column_panel,
                                    long k0, long depth, const float* a, const float* b, float* sums,
                                    Slices slices) {
    const long row = Rows::row(panel), column = Rows::column(column_panel);
    const int rows = Rows::rows(panel);
    const bool edge = Rows::is_edge(column_panel);
    const int* offsets = nullptr;
    if constexpr (P::kOffsetTable && P::kPackB == Pack::kInPlace) offsets = kDepthOffsets<P>.at + k0;
    if constexpr (kWholeTiles) {
      Tile<P>::whole_any(rows, edge, t, block.batch, row, column, depth, a, b, offsets);
    } else {
      // 16 more than needed: rows do not fall on the same cache sets.
      constexpr long stride = P::kSplits > 1 ? P::kPartStride : P::kBlockColumnPanels * P::kTileN + 16;
      float* const tile = sums + (row - Rows::row(block.first_panel)) * stride +
                          (column_panel - block.first_column) * P::kTileN;
      Tile<P>::multiply_any(rows, edge, depth, a, b, offsets, k0 == slices.first, tile, stride);
      if constexpr (P::kSplits == 1)
        if (k0 + depth == slices.end)
          finish_tile<P>(t, block.batch, row, column, tile, stride, rows, Rows::columns(column_panel));
    }
  }

  // All sums of one block, over k from first_k to last_k.
  static __attribute__((noinline)) void multiply_block(const Tensors& t, const Block& block, const Memory& m,
                                                       float* sums, long first_k, long last_k) {
    [[maybe_unused]] Slices seen[P::kBlockColumnPanels];
    if constexpr (P::kSkipsPadding)
      for (long i = block.first_column; i < block.last_column; ++i)
        seen[i - block.first_column] = slices_of(i);
    if constexpr (kWholeTiles) first_k = 0, last_k = P::kK;
    const long shares = block.last_panel - block.first_panel;
    for (long k0 = first_k; k0 < last_k; k0 += P::kBlockK) {
      const long depth = kWholeTiles ? P::kK : last_k - k0 < P::kBlockK ? last_k - k0 : P::kBlockK;
      if constexpr (P::kPackA == Pack::kBlock)
        for (long panel = block.first_panel; panel < block.last_panel; ++panel)
          pack_a_panel<P>(t, block.batch, panel, k0, depth,
                          m.own + P::kABlock + (panel - block.first_panel) * P::kRows * P::kBlockK);
      if constexpr (P::kRowsOuter) {
        for (long panel = block.first_panel; panel < block.last_panel; ++panel) {
          const float* const a = a_panel(t, block, m, panel, k0);
          for (long column = block.first_column; column < block.last_column; ++column) {
            if constexpr (P::kFetch == Fetch::kRowsOfA)
              fetch<3>(a + Rows::rows(panel) * P::kK, Rows::rows(panel) * P::kK, column - block.first_column,
                       block.last_column - block.first_column);
            one_tile(t, block, panel, column, k0, depth, a, b_panel(t, block, m, column, k0), sums,
                     {0, P::kK});
          }
        }
        continue;
      }
      for (long column = block.first_column; column < block.last_column; ++column) {
        Slices slices = {first_k, last_k};
        if constexpr (P::kSkipsPadding) {
          slices = seen[column - block.first_column];
          if (k0 != slices.first && !sees_image(column, k0)) continue;
        }
        if constexpr (P::kPackB == Pack::kBlock)
          P::pack_b_block(t, m.staged, block.batch, column, k0, depth, m.own + P::kBBlock);
        const float* const b = b_panel(t, block, m, column, k0);
        for (long panel = block.first_panel; panel < block.last_panel; ++panel) {
          if constexpr (P::kFetch == Fetch::kRowsOfB)
            fetch_rows_of_b(t, block, column + 1, k0, depth, panel - block.first_panel, shares);
          if constexpr (P::kFetch == Fetch::kPanelsOfB)
            fetch<2>(b + P::kTileN * P::kK, depth * P::kTileN, panel - block.first_panel, shares);
          one_tile(t, block, panel, column, k0, depth, a_panel(t, block, m, panel, k0), b, sums, slices);
        }
      }
    }
  }
};

}  // namespace

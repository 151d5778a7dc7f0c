// Contractions on AMX tiles: 16 rows of 64 bytes; one instruction multiplies 16 x 32 values of a with 32 x 16
// of b. Four tiles hold a 32 x 32 block of sums, two hold a, two hold b. Values are bf16 (8 bits of
// mantissa); split into two or three of them, x = hi + mid + lo, three products reach about 2e-5 of the rms
// and six reach fp32.
//
// Panels are packed as whole tiles in the order in which they are read: step of 32 k, then part of the split,
// then the two tiles. b interleaves two steps of k, as the instruction wants it.
#pragma once

#include <immintrin.h>
#include <omp.h>

#include <cstdint>

#include "smith/kernels/contraction/tile.h"
#include "smith/kernels/memory/bf16.h"
#include "smith/kernels/memory/stream.h"

namespace {

template <class P>
struct AmxContraction {
  using Tensors = typename P::Tensors;

  static void prepare(const Tensors& t, float* prepared) {
    if constexpr (P::kPackA == Pack::kPrepare)
#pragma omp parallel for
      for (long i = 0; i < P::kAItems * P::kRowPanels; ++i)
        pack_a(t, i, reinterpret_cast<uint16_t*>(prepared + P::kPackedA));
    if constexpr (P::kPackB == Pack::kPrepare)
#pragma omp parallel for
      for (long i = 0; i < P::kBItems * P::kColumnPanels; ++i)
        pack_b(t, i, reinterpret_cast<uint16_t*>(prepared + P::kPackedB));
  }

  // Called by every thread of a team of at most kThreads.
  static void work(const Tensors& t, const float* prepared, float* scratch) {
    const float* const a = (P::kPackA == Pack::kPrepare ? prepared : scratch) + P::kPackedA;
    const float* const b = (P::kPackB == Pack::kPrepare ? prepared : scratch) + P::kPackedB;
    if constexpr (P::kPackA == Pack::kCall)
#pragma omp for schedule(static)
      for (long i = 0; i < P::kAItems * P::kRowPanels; ++i)
        pack_a(t, i, reinterpret_cast<uint16_t*>(scratch + P::kPackedA));
    if constexpr (P::kPackB == Pack::kCall)
#pragma omp for schedule(static)
      for (long i = 0; i < P::kBItems * P::kColumnPanels; ++i)
        pack_b(t, i, reinterpret_cast<uint16_t*>(scratch + P::kPackedB));
    float* const sums = scratch + P::kThreadScratch + omp_get_thread_num() * P::kPerThread;
    configure_tiles();
#pragma omp for schedule(dynamic) collapse(3)
    for (long batch = 0; batch < P::kBatch; ++batch)
      for (long column = 0; column < P::kColumnPanels; column += P::kBlockColumnPanels)
        for (long row = 0; row < P::kRowPanels; row += P::kBlockRowPanels)
          multiply_block(t, batch, row, column, reinterpret_cast<const uint16_t*>(a),
                         reinterpret_cast<const uint16_t*>(b), sums);
    _tile_release();
    if constexpr (P::kStream) stream_end();  // each thread makes its own non-temporal stores visible
  }

 private:
  static constexpr long kSteps = (P::kK + 31) / 32;
  static constexpr long kPanel = kSteps * P::kParts * 1024;  // values of one panel

  // Pairs of parts whose products are added, small ones first; neighbours share a part, so that it is not
  // loaded again.
  struct Pair {
    int a, b;
  };
  static constexpr int kProducts = P::kParts == 1 ? 1 : P::kParts == 2 ? 3 : 6;
  static constexpr Pair pair(int i) {
    constexpr Pair three[] = {{0, 1}, {0, 0}, {1, 0}};
    constexpr Pair six[] = {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}};
    return P::kParts == 1 ? Pair{0, 0} : P::kParts == 2 ? three[i] : six[i];
  }

  // Panel i of a, 32 rows wide: tiles of 16 rows x 32 k.
  static void pack_a(const Tensors& t, long i, uint16_t* packed) {
    uint16_t* const out = packed + i * kPanel;
    const long batch = P::a_batch_of(i / P::kRowPanels), row0 = i % P::kRowPanels * 32;
    split_panel(
        out, P::kM - row0, [&](long row, long k) { return P::a_element(t, batch, row0 + row, k); },
        [](long row, long k) { return row % 16 * 32 + k; });
  }
  // Panel i of b, 32 columns wide: tiles of 16 pairs of k x 16 columns.
  static void pack_b(const Tensors& t, long i, uint16_t* packed) {
    uint16_t* const out = packed + i * kPanel;
    const long batch = P::b_batch_of(i / P::kColumnPanels), column0 = i % P::kColumnPanels * 32;
    split_panel(
        out, P::kN - column0,
        [&](long column, long k) { return P::b_element(t, batch, column0 + column, k); },
        [](long column, long k) { return k / 2 * 32 + column % 16 * 2 + k % 2; });
  }
  // 32 rows (or columns) of an operand, of which `sides` exist; place(i, j): where a value lies in its tile.
  template <class Element, class Place>
  static SMITH_INLINE void split_panel(uint16_t* out, long sides, Element element, Place place) {
    for (long step = 0; step < kSteps; ++step)
      for (long i = 0; i < 32; ++i)
        for (long j = 0; j < 32; ++j) {
          const long k = step * 32 + j;
          float rest = i < sides && k < P::kK ? element(i, k) : 0.0f;
          for (long part = 0; part < P::kParts; ++part) {
            uint16_t* const to = out + (step * P::kParts + part) * 1024 + i / 16 * 512 + place(i, j);
            store_bf16(to, rest);
            rest -= load_bf16<float>(to);
          }
        }
  }

  // All eight tiles 16 rows x 64 bytes. The compiler believes that only 8 bytes of the configuration are
  // read: the barrier keeps the stores to the others.
  static SMITH_INLINE void configure_tiles() {
    alignas(64) struct {
      uint8_t palette, start;
      uint8_t reserved[14];
      uint16_t bytes[16];
      uint8_t rows[16];
    } config = {};
    config.palette = 1;
    for (int i = 0; i < 8; ++i) config.bytes[i] = 64, config.rows[i] = 16;
    asm volatile("" ::: "memory");
    _tile_loadconfig(&config);
  }

  // One step of 32 k: products of parts from number i on.
  template <int i>
  static SMITH_INLINE void multiply_parts(const uint16_t* a, const uint16_t* b) {
    if constexpr (i < kProducts) {
      constexpr Pair now = pair(i), before = i > 0 ? pair(i - 1) : Pair{-1, -1};
      if constexpr (now.a != before.a) {
        _tile_loadd(4, a + now.a * 1024, 64);
        _tile_loadd(5, a + now.a * 1024 + 512, 64);
      }
      if constexpr (now.b != before.b) {
        _tile_loadd(6, b + now.b * 1024, 64);
        _tile_loadd(7, b + now.b * 1024 + 512, 64);
      }
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
      multiply_parts<i + 1>(a, b);
    }
  }

  // c (+)= a * b for 32 x 32 sums over `steps` steps of 32 k.
  static SMITH_INLINE void multiply_tiles(long steps, const uint16_t* a, const uint16_t* b, bool first,
                                          float* c, long stride) {
    asm volatile("" ::: "memory");
    if (first) {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    } else {
      _tile_loadd(0, c, stride * 4);
      _tile_loadd(1, c + 16, stride * 4);
      _tile_loadd(2, c + 16 * stride, stride * 4);
      _tile_loadd(3, c + 16 * stride + 16, stride * 4);
    }
    for (long step = 0; step < steps; ++step, a += P::kParts * 1024, b += P::kParts * 1024)
      multiply_parts<0>(a, b);
    _tile_stored(0, c, stride * 4);
    _tile_stored(1, c + 16, stride * 4);
    _tile_stored(2, c + 16 * stride, stride * 4);
    _tile_stored(3, c + 16 * stride + 16, stride * 4);
    asm volatile("" ::: "memory");
  }

  static __attribute__((noinline)) void multiply_block(const Tensors& t, long batch, long first_row,
                                                       long first_column, const uint16_t* packed_a,
                                                       const uint16_t* packed_b, float* sums) {
    const long last_row =
        first_row + P::kBlockRowPanels < P::kRowPanels ? first_row + P::kBlockRowPanels : P::kRowPanels;
    const long last_column = first_column + P::kBlockColumnPanels < P::kColumnPanels
                                 ? first_column + P::kBlockColumnPanels
                                 : P::kColumnPanels;
    constexpr long stride = P::kBlockColumnPanels * 32 + 16;
    for (long step = 0; step < kSteps; step += P::kBlockSteps) {
      const long steps = kSteps - step < P::kBlockSteps ? kSteps - step : P::kBlockSteps;
      for (long column = first_column; column < last_column; ++column) {
        const uint16_t* const b =
            packed_b + (P::b_item(batch) * P::kColumnPanels + column) * kPanel + step * P::kParts * 1024;
        for (long row = first_row; row < last_row; ++row) {
          const uint16_t* const a =
              packed_a + (P::a_item(batch) * P::kRowPanels + row) * kPanel + step * P::kParts * 1024;
          float* const tile = sums + (row - first_row) * 32 * stride + (column - first_column) * 32;
          multiply_tiles(steps, a, b, step == 0, tile, stride);
          if (step + steps < kSteps) continue;
          const long rows = P::kM - row * 32 < 32 ? P::kM - row * 32 : 32;
          const long columns = P::kN - column * 32 < 32 ? P::kN - column * 32 : 32;
          finish_tile<P>(t, batch, row * 32, column * 32, tile, stride, static_cast<int>(rows), columns);
        }
      }
    }
  }
};

}  // namespace

// Convolution with 3 x 3 taps by Winograd's F(2 x 2, 3 x 3): four results, which are 36 products, from 16. A
// tile of 4 x 4 inputs and the filter are each transformed by additions (the filter once, before the first
// call), multiplied point by point, and the products of all channels transformed back. For each of the 16
// points the sum over channels is a product of matrices: filters x channels times channels x tiles.
//
// The transforms multiply by 1, 1/2 and 1/4 only: whole numbers stay exact. Rounding errors are about twice
// those of the plain sum; larger tiles, which save more, lose digits that policy fp32 asks for.
#pragma once

#include <omp.h>

#include <cstring>

#include "smith/kernels/contraction/panels.h"
#include "smith/kernels/contraction/staged_image.h"
#include "smith/kernels/contraction/tile.h"
#include "smith/kernels/vectors/shuffle.h"

namespace {

template <class P>
struct Winograd {
  using Tensors = typename P::Tensors;

  static void prepare(const Tensors& t, float* prepared) {
#pragma omp parallel for schedule(static)
    for (long panel = 0; panel < P::kRowPanels; ++panel) transform_filters(t, panel, prepared);
  }

  // Called by every thread of a team of at most kThreads.
  static void work(const Tensors& t, const float* prepared, float* scratch) {
    float* const own = scratch + omp_get_thread_num() * P::kPerThread;
    float* const all_staged = scratch + P::kThreads * P::kPerThread;
    if constexpr (P::kStagePrivate) {
      float* const staged = all_staged + omp_get_thread_num() * P::kStagedFloats;
#pragma omp for schedule(dynamic)
      for (long batch = 0; batch < P::kBatch; ++batch) {
        StagedImage<P>::copy(P::x(t), batch, 0, P::kChannels, staged);
        for (long d = 0; d < P::kOutD; ++d)
          for (long row = 0; row < P::kTileRows; row += P::kBlockTileRows)
            filter_rows(t, batch, d, row, prepared, staged, own);
      }
    } else {
#pragma omp for schedule(static)
      for (long i = 0; i < P::kBatch * P::kChannels; ++i)
        StagedImage<P>::copy(P::x(t), i / P::kChannels, i % P::kChannels, i % P::kChannels + 1,
                             all_staged + i / P::kChannels * P::kStagedFloats);
#pragma omp for schedule(dynamic) collapse(3)
      for (long batch = 0; batch < P::kBatch; ++batch)
        for (long d = 0; d < P::kOutD; ++d)
          for (long row = 0; row < P::kTileRows; row += P::kBlockTileRows)
            filter_rows(t, batch, d, row, prepared, all_staged + batch * P::kStagedFloats, own);
    }
  }

 private:
  using Rows = Panels<P>;

  // The filters of one panel, transformed: for each point, out[k][i].
  static void transform_filters(const Tensors& t, long panel, float* prepared) {
    const int rows = Rows::rows(panel);
    for (int i = 0; i < rows; ++i)
      for (long k = 0; k < P::kK; ++k) {
        double g[9], half[4][3];
        for (int tap = 0; tap < 9; ++tap)
          g[tap] = P::weight(t, Rows::row(panel) + i, k / P::kDepth, k % P::kDepth, tap);
        for (int j = 0; j < 3; ++j) {
          half[0][j] = g[j];
          half[1][j] = (g[j] + g[3 + j] + g[6 + j]) / 2;
          half[2][j] = (g[j] - g[3 + j] + g[6 + j]) / 2;
          half[3][j] = g[6 + j];
        }
        for (int row = 0; row < 4; ++row) {
          const double* const h = half[row];
          const double points[4] = {h[0], (h[0] + h[1] + h[2]) / 2, (h[0] - h[1] + h[2]) / 2, h[2]};
          for (int column = 0; column < 4; ++column)
            prepared[((row * 4 + column) * P::kRowPanels + panel) * P::kRows * P::kK + k * rows + i] =
                (float)points[column];
        }
      }
  }

  // Tiles of tile rows [first_row, last_row) of output plane d: points[point][panel][k][tile].
  static __attribute__((noinline)) void transform_input(const float* staged, long d, long first_row,
                                                        long last_row, float* points) {
    for (long row = first_row; row < last_row; ++row)
      for (long k = 0; k < P::kK; ++k) {
        const float* const top = staged + k / P::kDepth * P::kChannelStride +
                                 (d + k % P::kDepth) * P::kPlaneStride + 2 * row * P::kRowStride;
        for (long tile = 0; tile < P::kTiles; tile += kLanes) {
          Vec half[4][4];
          // Down the columns 2i, 2i + 1, 2i + 2 and 2i + 3 of the tiles.
#pragma GCC unroll 4
          for (int j = 0; j < 4; ++j) {
            const float* const column = top + j % 2 * P::kStagedW + j / 2 + tile;
            const Vec x0 = load<Vec>(column), x1 = load<Vec>(column + P::kRowStride);
            const Vec x2 = load<Vec>(column + 2 * P::kRowStride), x3 = load<Vec>(column + 3 * P::kRowStride);
            half[0][j] = x0 - x2, half[1][j] = x1 + x2, half[2][j] = x2 - x1, half[3][j] = x1 - x3;
          }
          float* const out = points +
                             (((row - first_row) * P::kTiles + tile) / P::kTileN * P::kK + k) * P::kTileN +
                             tile % P::kTileN;
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i) {
            const Vec* const x = half[i];
            store(out + (i * 4 + 0) * P::kPointStride, x[0] - x[2]);
            store(out + (i * 4 + 1) * P::kPointStride, x[1] + x[2]);
            store(out + (i * 4 + 2) * P::kPointStride, x[2] - x[1]);
            store(out + (i * 4 + 3) * P::kPointStride, x[1] - x[3]);
          }
        }
      }
  }

  // Even and odd columns become neighbours.
  static SMITH_INLINE void store_pair(float* out, Vec even, Vec odd) {
    store(out, shuffled<[](int i) { return i / 2 + i % 2 * int(kLanes); }>(even, odd));
    store(out + kLanes,
          shuffled<[](int i) { return int(kLanes) / 2 + i / 2 + i % 2 * int(kLanes); }>(even, odd));
  }

  // One filter's sums, transformed back: two rows of results for every row of tiles, one behind the other.
  static inline void transform_back(const float* sums, long tile_rows, float* line) {
    alignas(64) float second[2 * P::kTiles];
    for (long row = 0; row < tile_rows; ++row) {
      float* const upper = line + 2 * row * P::kOutW;
      for (long tile = 0; tile < P::kTiles; tile += kLanes) {
        const float* const from = sums + row * P::kTiles + tile;
        Vec above[4], below[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          const Vec m0 = load<Vec>(from + j * P::kSumsStride),
                    m1 = load<Vec>(from + (4 + j) * P::kSumsStride);
          const Vec m2 = load<Vec>(from + (8 + j) * P::kSumsStride),
                    m3 = load<Vec>(from + (12 + j) * P::kSumsStride);
          above[j] = m0 + m1 + m2, below[j] = m1 - m2 - m3;
        }
        store_pair(upper + 2 * tile, above[0] + above[1] + above[2], above[1] - above[2] - above[3]);
        store_pair(second + 2 * tile, below[0] + below[1] + below[2], below[1] - below[2] - below[3]);
      }
      std::memcpy(upper + P::kOutW, second, P::kOutW * sizeof(float));
    }
  }

  // A block of tile rows, from first_row on, of one output plane of one image.
  static __attribute__((noinline)) void filter_rows(const Tensors& t, long batch, long d, long first_row,
                                                    const float* filters, const float* staged, float* own) {
    const long last_row =
        first_row + P::kBlockTileRows < P::kTileRows ? first_row + P::kBlockTileRows : P::kTileRows;
    float* const points = own;
    float* const sums = points + 16 * P::kPointStride;
    float* const line = sums + 16 * P::kSumsStride * P::kBlockRows;
    transform_input(staged, d, first_row, last_row, points);
    const long panels = (last_row - first_row) * P::kTiles / P::kTileN, first = 2 * first_row;
    const long rows_of_results =
        P::kOutH - first < 2 * (last_row - first_row) ? P::kOutH - first : 2 * (last_row - first_row);
    for (long first_panel = 0; first_panel < P::kRowPanels; first_panel += P::kBlockRowPanels) {
      const long last_panel =
          first_panel + P::kBlockRowPanels < P::kRowPanels ? first_panel + P::kBlockRowPanels : P::kRowPanels;
      for (long point = 0; point < 16; ++point)
        for (long panel = first_panel; panel < last_panel; ++panel)
          for (long tiles = 0; tiles < panels; ++tiles)
            Tile<P>::multiply_any(
                Rows::rows(panel), false, P::kK, filters + (point * P::kRowPanels + panel) * P::kRows * P::kK,
                points + point * P::kPointStride + tiles * P::kK * P::kTileN, nullptr, true,
                sums + ((Rows::row(panel) - Rows::row(first_panel)) * 16 + point) * P::kSumsStride +
                    tiles * P::kTileN,
                16 * P::kSumsStride);
      const long first_filter = Rows::row(first_panel),
                 last_filter = Rows::row(last_panel - 1) + Rows::rows(last_panel - 1);
      for (long filter = first_filter; filter < last_filter; ++filter) {
        transform_back(sums + (filter - first_filter) * 16 * P::kSumsStride, last_row - first_row, line);
        finish_tile<P>(t, batch, filter, (d * P::kOutH + first) * P::kOutW, line, 0, 1,
                       rows_of_results * P::kOutW);
      }
    }
  }
};

}  // namespace

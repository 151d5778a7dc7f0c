// A convolution whose register tile has pixels as its rows and filters along its vectors. Images of a few
// pixels fill such tiles: 49 pixels are tiles of 14, 14, 14 and 7 rows, where 49 columns would take four
// vectors of 16 and leave a quarter of them empty. A pixel is broadcast from where it lies, in the image or
// in its padded copy; nothing is packed but the filters, once, and these are walked in order, each slice of k
// staying in L1 for all pixels of a block. At the end sums are turned round: results lie along pixels.
#pragma once

#include <omp.h>

#include "smith/kernels/contraction/packing.h"
#include "smith/kernels/contraction/staged_image.h"
#include "smith/kernels/contraction/tile.h"

namespace {

// How the pixels of an image fall into panels: rows of the image that are longer than a tile evenly, of
// shorter ones some together. Panels have kTall or kLow pixels.
template <class P>
struct PixelPanels {
  static constexpr long column(long panel) {
    const long i = panel % P::kPanelsPerRun;
    return panel / P::kPanelsPerRun * P::kRunPixels +
           (i < P::kTallPerRun ? i * P::kTall : P::kTallPerRun * P::kTall + (i - P::kTallPerRun) * P::kLow);
  }
  static constexpr bool is_tall(long panel) {
    if constexpr (P::kPanelsPerRun == 1) return column(panel) + P::kTall <= P::kN;
    return panel % P::kPanelsPerRun < P::kTallPerRun;
  }
  static constexpr long end(long panel) { return column(panel) + (is_tall(panel) ? P::kTall : P::kLow); }
};

// The steps of k that the pixels of each panel need: rows of taps before and behind see nothing but padding.
template <class P>
struct PixelSteps {
  int first[P::kPanels], end[P::kPanels];
  constexpr PixelSteps() : first(), end() {
    for (long panel = 0; panel < P::kPanels; ++panel) {
      first[panel] = 0, end[panel] = P::kK;
      if constexpr (P::kSkipsPadding) find(panel);
    }
  }

 private:
  constexpr void find(long panel) {
    const TapRows r = P::kTapRows;
    const long rows = r.taps[0] * r.taps[1], steps = P::kK / rows;
    const long above = PixelPanels<P>::column(panel) / r.width,
               below = (PixelPanels<P>::end(panel) - 1) / r.width;
    bool found = false;
    for (long tap = 0; tap < rows; ++tap) {
      bool sees = false;
      for (long row = above; row <= below; ++row) {
        const long d = row / r.out[1] * r.strides[0] + tap / r.taps[1] * r.dilations[0] - r.begins[0];
        const long h = row % r.out[1] * r.strides[1] + tap % r.taps[1] * r.dilations[1] - r.begins[1];
        sees = sees || (d >= 0 && d < r.input[0] && h >= 0 && h < r.input[1]);
      }
      if (!sees) continue;
      if (!found) first[panel] = tap * steps;
      end[panel] = (tap + 1) * steps;
      found = true;
    }
    if (!found) end[panel] = steps;  // zeros all the same
  }
};
template <class P>
constexpr PixelSteps<P> kPixelSteps;

template <class P>
struct PixelRows {
  using Tensors = typename P::Tensors;

  // Panels of filters: out[k][filter], zeros behind the last one.
  static void prepare(const Tensors& t, float* prepared) {
#pragma omp parallel for schedule(static)
    for (long panel = 0; panel < P::kFilterPanels; ++panel)
      pack_filters(t, panel, prepared + panel * P::kK * P::kTileN);
  }

  // Called by every thread of a team of at most kThreads.
  static void work(const Tensors& t, const float* prepared, float* scratch) {
    float* const own = scratch + P::kThreadScratch + omp_get_thread_num() * P::kPerThread;
    if constexpr (P::kStagePrivate) {
      // Each thread copies some images and does all of their blocks while the copies are in its cache.
      float* const staged = own + P::kOwnStaged;
#pragma omp for schedule(dynamic)
      for (long image = 0; image < P::kBatch; image += P::kBlockImages) {
        for (long i = image; i < last_image(image); ++i)
          StagedImage<P>::copy(P::x(t), i, 0, P::kChannels, staged + (i - image) * P::kStagedFloats);
        for (long panel = 0; panel < P::kPanels; panel += P::kBlockPanels)
          filter_block(t, prepared, staged, {image, panel, 0}, own);
      }
    } else {
      if constexpr (P::kStaged) {
#pragma omp for schedule(static)
        for (long i = 0; i < P::kBatch * P::kChannels; ++i)
          StagedImage<P>::copy(P::x(t), i / P::kChannels, i % P::kChannels, i % P::kChannels + 1,
                               scratch + i / P::kChannels * P::kStagedFloats);
      }
#pragma omp for schedule(dynamic) collapse(3)
      for (long image = 0; image < P::kBatch; image += P::kBlockImages)
        for (long panel = 0; panel < P::kPanels; panel += P::kBlockPanels)
          for (long filters = 0; filters < P::kFilterPanels; filters += P::kBlockFilterPanels)
            filter_block(t, prepared, scratch + image * P::kStagedFloats, {image, panel, filters}, own);
    }
  }

 private:
  using Pixels = PixelPanels<P>;
  struct Block {
    long image, panel, filters;  // where it begins
  };
  // Floats from one filter's line of finished sums to the next: all pixels of a block, whole vectors.
  static constexpr long kLine = (P::kBlockPixels + kLanes - 1) / kLanes * kLanes + kLanes;

  static constexpr long last_image(long image) {
    return image + P::kBlockImages < P::kBatch ? image + P::kBlockImages : P::kBatch;
  }

  static void pack_filters(const Tensors& t, long panel, float* out) {
    const long filter0 = panel * P::kTileN;
    const long filters = P::kM - filter0 < P::kTileN ? P::kM - filter0 : P::kTileN;
    long k = 0;
    if constexpr (P::kLayoutA == Layout::kAlongDepth)
      if (filters == P::kTileN)
        for (; k + kLanes <= P::kK; k += kLanes)
          for (long j = 0; j < P::kTileN; j += kLanes)
            transpose_into(P::a(t) + P::a_batch(0) + P::a_side(filter0 + j) + k, P::kASide, kLanes,
                           out + k * P::kTileN + j, P::kTileN);
    for (; k < P::kK; ++k)
      for (long j = 0; j < P::kTileN; ++j)
        out[k * P::kTileN + j] = j < filters ? P::a_element(t, 0, filter0 + j, k) : 0.0f;
  }

  // Where pixel i of a panel lies, from its first.
  static constexpr long pixel(int i) { return i / P::kRowPixels * P::kRowOffset + i % P::kRowPixels; }

  // sums (+)= pixels * filters over `depth` steps of k, for a panel of `rows` pixels. `ahead`: what is
  // fetched into L2 meanwhile, a line per step.
  template <int rows>
  static __attribute__((noinline)) void multiply(long depth, const float* x, const int* offsets,
                                                 const float* filters, const float* ahead, bool first,
                                                 float* sums) {
    Vec sum[rows][P::kVectors];
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < P::kVectors; ++j) sum[i][j] = Vec{};
    for (long k = 0; k < depth; ++k) {
      const float* const from = x + (P::kOffsetTable ? offsets[k] : k * P::kBDepth);
      __builtin_prefetch(ahead + k * 16, 0, 2);
      Vec filter[P::kVectors];
#pragma GCC unroll 16
      for (int j = 0; j < P::kVectors; ++j) filter[j] = load<Vec>(filters + k * P::kTileN + j * kLanes);
#pragma GCC unroll 32
      for (int i = 0; i < rows; ++i) {
        const float value = from[pixel(i)];
#pragma GCC unroll 16
        for (int j = 0; j < P::kVectors; ++j) sum[i][j] += value * filter[j];
      }
    }
    if (!first)
#pragma GCC unroll 32
      for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
        for (int j = 0; j < P::kVectors; ++j) sum[i][j] += load<Vec>(sums + i * P::kTileN + j * kLanes);
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < P::kVectors; ++j) store(sums + i * P::kTileN + j * kLanes, sum[i][j]);
  }

  // Sums of one panel of filters for one image become results.
  static __attribute__((noinline)) void finish(const Tensors& t, long image, long filter0, long column,
                                               long pixels, const float* sums, float* lines) {
    for (long j = 0; j < P::kTileN && filter0 + j < P::kM; j += kLanes) {
      long i = 0;
      for (; i + kLanes <= pixels; i += kLanes)
        transpose_into(sums + i * P::kTileN + j, P::kTileN, kLanes, lines + i, kLine);
      for (; i < pixels; ++i)
        for (long lane = 0; lane < kLanes; ++lane) lines[lane * kLine + i] = sums[i * P::kTileN + j + lane];
      const long left = P::kM - filter0 - j;
      finish_tile<P>(t, image, filter0 + j, column, lines, kLine, left < kLanes ? left : kLanes, pixels);
    }
  }

  // Some images whole, or some panels of one image, by some filters.
  static __attribute__((noinline)) void filter_block(const Tensors& t, const float* packed,
                                                     const float* staged, const Block& block, float* own) {
    const long last = last_image(block.image);
    const long last_panel =
        block.panel + P::kBlockPanels < P::kPanels ? block.panel + P::kBlockPanels : P::kPanels;
    const long last_filters = block.filters + P::kBlockFilterPanels < P::kFilterPanels
                                  ? block.filters + P::kBlockFilterPanels
                                  : P::kFilterPanels;
    const long column0 = Pixels::column(block.panel), pixels = Pixels::end(last_panel - 1) - column0;
    float *const sums = own, *const lines = own + P::kLines;
    for (long filters = block.filters; filters < last_filters; ++filters) {
      const float* const panel_of_filters = packed + filters * P::kK * P::kTileN;
      for (long k0 = 0; k0 < P::kK; k0 += P::kBlockK) {
        const long k1 = k0 + P::kBlockK < P::kK ? k0 + P::kBlockK : P::kK;
        // The next slice, a part of it with each tile.
        const float* ahead = panel_of_filters + k1 * P::kTileN;
        for (long image = block.image; image < last; ++image) {
          const float* x = nullptr;
          if constexpr (P::kStaged)
            x = staged + (image - block.image) * P::kStagedFloats;
          else
            x = P::x(t) + P::b_batch(image);
          float* const image_sums = sums + (image - block.image) * P::kBlockPixels * P::kTileN;
          for (long panel = block.panel; panel < last_panel; ++panel) {
            const long from = kPixelSteps<P>.first[panel], end = kPixelSteps<P>.end[panel];
            const long first = k0 < from ? from : k0, depth = (k1 < end ? k1 : end) - first;
            if (depth <= 0) continue;
            const float* at = x + P::b_side(Pixels::column(panel));
            const int* offsets = nullptr;
            if constexpr (P::kOffsetTable)
              offsets = kDepthOffsets<P>.at + first;
            else
              at += P::b_depth(first);
            const float* const w = panel_of_filters + first * P::kTileN;
            float* const to = image_sums + (Pixels::column(panel) - column0) * P::kTileN;
            if (P::kLow == 0 || Pixels::is_tall(panel))
              multiply<P::kTall>(depth, at, offsets, w, ahead, first == from, to);
            else if constexpr (P::kLow > 0)
              multiply<P::kLow>(depth, at, offsets, w, ahead, first == from, to);
            ahead += depth * 16;
            if (ahead >= panel_of_filters + (k1 + P::kBlockK) * P::kTileN) ahead = panel_of_filters;
          }
        }
      }
      for (long image = block.image; image < last; ++image)
        finish(t, image, filters * P::kTileN, column0, pixels,
               sums + (image - block.image) * P::kBlockPixels * P::kTileN, lines);
    }
  }
};

}  // namespace

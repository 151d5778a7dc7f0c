// Transposed convolution with a stride, by phases. Output o gets x[i] * w[k] where o + pad = i * stride + k *
// dilation. Outputs with the same (o + pad) % stride (a phase) see the same taps, and neighbours among them
// see neighbouring inputs: a phase is a convolution of stride 1 with a part of the taps. Nothing is
// multiplied by a zero that a stride put there.
//
// Output rows are done one after another; within a row the phases of the columns are computed tile by tile
// and interleaved in L1 before they are finished, so that results are stored in order.
#pragma once

#include <omp.h>

#include "smith/kernels/contraction/panels.h"
#include "smith/kernels/contraction/staged_image.h"
#include "smith/kernels/contraction/tile.h"
#include "smith/kernels/memory/stream.h"
#include "smith/kernels/vectors/shuffle.h"

namespace {

// Steps of k by phase: phase p has [first[p], first[p + 1]).
template <class P>
struct TapPhases {
  int first[P::kStrideD * P::kStrideH * P::kStrideW + 1];
  int offset[P::kK];  // where the staged image is read, from position q
  int weight[P::kK];  // where the weight lies in w, for filter 0
  constexpr TapPhases() : first(), offset(), weight() {
    int n = 0, phase = 0;
    for (long pd = 0; pd < P::kStrideD; ++pd)
      for (long ph = 0; ph < P::kStrideH; ++ph)
        for (long pw = 0; pw < P::kStrideW; ++pw) {
          first[phase++] = n;
          for (long channel = 0; channel < P::kChannels; ++channel)
            for (long kd = 0; kd < P::kTapsD; ++kd)
              for (long kh = 0; kh < P::kTapsH; ++kh)
                for (long kw = 0; kw < P::kTapsW; ++kw) {
                  const long d = kd * P::kDilationD, h = kh * P::kDilationH, w = kw * P::kDilationW;
                  if (d % P::kStrideD != pd || h % P::kStrideH != ph || w % P::kStrideW != pw) continue;
                  offset[n] = static_cast<int>(
                      channel * P::kChannelStride - (d - pd) / P::kStrideD * P::kPlaneStride -
                      (h - ph) / P::kStrideH * P::kRowStride - (w - pw) / P::kStrideW);
                  weight[n] =
                      static_cast<int>(channel * P::kM * P::kTaps + (kd * P::kTapsH + kh) * P::kTapsW + kw);
                  ++n;
                }
        }
    first[phase] = n;
  }
};
template <class P>
constexpr TapPhases<P> kTapPhases;

template <class P>
struct TransposedConvolution {
  using Tensors = typename P::Tensors;

  static void prepare(const Tensors& t, float* prepared) {
    if constexpr (P::kPackA == Pack::kPrepare)
#pragma omp parallel for schedule(static)
      for (long i = 0; i < P::kGroups * P::kRowPanels; ++i) pack_filters(t, i, prepared);
  }

  // Called by every thread of a team of at most kThreads.
  static void work(const Tensors& t, const float* prepared, float* scratch) {
    const float* filters = prepared;
    if constexpr (P::kPackA == Pack::kCall) {
      filters = scratch;
#pragma omp for schedule(static)
      for (long i = 0; i < P::kGroups * P::kRowPanels; ++i) pack_filters(t, i, scratch);
    }
    float* const all_staged = scratch + P::kAllStaged;
    if constexpr (P::kStagePrivate) {
      float* const staged = all_staged + omp_get_thread_num() * P::kStagedFloats;
#pragma omp for schedule(dynamic)
      for (long batch = 0; batch < P::kBatch; ++batch) {
        StagedImage<P>::copy(P::x(t), batch, 0, P::kChannels, staged);
        output_rows(t, batch, 0, P::kOutRows, filters, staged);
      }
    } else {
#pragma omp for schedule(static)
      for (long i = 0; i < P::kBatch * P::kChannels; ++i)
        StagedImage<P>::copy(P::x(t), i / P::kChannels, i % P::kChannels, i % P::kChannels + 1,
                             all_staged + i / P::kChannels * P::kStagedFloats);
#pragma omp for schedule(dynamic) collapse(2)
      for (long batch = 0; batch < P::kBatch; ++batch)
        for (long row = 0; row < P::kOutRows; row += P::kPieceRows)
          output_rows(t, batch, row, row + P::kPieceRows < P::kOutRows ? row + P::kPieceRows : P::kOutRows,
                      filters, all_staged + batch * P::kStagedFloats);
    }
    if constexpr (P::kStream) stream_end();  // each thread makes its own non-temporal stores visible
  }

 private:
  using Rows = Panels<P>;
  static constexpr long kLine = P::kTileN * P::kStrideW;  // columns of a tile of all phases

  // Panel i of the filters of all groups, phase after phase: out[k][row].
  static void pack_filters(const Tensors& t, long i, float* packed) {
    const long panel = i % P::kRowPanels;
    const float* const source =
        P::w(t) + (i / P::kRowPanels * P::kChannels * P::kM + Rows::row(panel)) * P::kTaps;
    const int rows = Rows::rows(panel);
    float* const out = packed + i * P::kRows * P::kK;
    for (long k = 0; k < P::kK; ++k)
      for (int row = 0; row < rows; ++row)
        out[k * rows + row] = source[kTapPhases<P>.weight[k] + row * P::kTaps];
  }

  // Vector v of kStrideW interleaved ones. Phase by phase: lanes of this one come from its vector, the others
  // stay what the earlier phases made of them.
  template <int v, int phase>
  static SMITH_INLINE Vec interleaved(const Vec* phases) {
    if constexpr (phase == 0) {
      return phases[0];
    } else {
      constexpr auto lane = [](int i) {
        const int at = v * int(kLanes) + i, from = at / int(P::kStrideW), of = at % int(P::kStrideW);
        if (of == phase) return int(kLanes) + from;
        return phase == 1 && of == 0 ? from : i;
      };
      return shuffled<lane>(interleaved<v, phase - 1>(phases), phases[phase]);
    }
  }
  template <int v>
  static SMITH_INLINE void store_interleaved(const Vec* phases, float* line) {
    if constexpr (v < P::kStrideW) {
      store(line + v * kLanes, interleaved<v, P::kStrideW - 1>(phases));
      store_interleaved<v + 1>(phases, line);
    }
  }
  // line[i][kStrideW * j + phase] = sums[phase][i][j]
  static inline void interleave(const float* sums, int rows, float* line) {
    for (int i = 0; i < rows; ++i)
      if constexpr (P::kStrideW > 4) {
        for (long j = 0; j < P::kTileN; ++j)
          for (long phase = 0; phase < P::kStrideW; ++phase)
            line[i * kLine + j * P::kStrideW + phase] = sums[(phase * P::kRows + i) * P::kTileN + j];
      } else {
        for (long j = 0; j < P::kTileN; j += kLanes) {
          Vec phases[P::kStrideW];
#pragma GCC unroll 4
          for (long phase = 0; phase < P::kStrideW; ++phase)
            phases[phase] = load<Vec>(sums + (phase * P::kRows + i) * P::kTileN + j);
          store_interleaved<0>(phases, line + i * kLine + P::kStrideW * j);
        }
      }
  }

  // Output rows [first_row, last_row) of one image and group.
  static __attribute__((noinline)) void output_rows(const Tensors& t, long batch, long first_row,
                                                    long last_row, const float* filters,
                                                    const float* staged) {
    alignas(64) float sums[P::kStrideW * P::kRows * P::kTileN];
    alignas(64) float line[P::kRows * kLine];
    for (long output_row = first_row; output_row < last_row; ++output_row) {
      // Which phase this row belongs to, and which input rows it looks at.
      const long d = output_row / P::kOutH + P::kBeginD, h = output_row % P::kOutH + P::kBeginH;
      const long phase0 = (d % P::kStrideD * P::kStrideH + h % P::kStrideH) * P::kStrideW;
      const float* const row_start = staged + (d / P::kStrideD + P::kPadD) * P::kPlaneStride +
                                     (h / P::kStrideH + P::kPadH) * P::kRowStride + P::kPadW;
      for (long column_panel = 0; column_panel < P::kPanelsPerRun; ++column_panel) {
        const bool edge = column_panel == P::kPanelsPerRun - 1;
        const long first = column_panel * kLine;  // output column
        const long columns = P::kOutW - first < kLine ? P::kOutW - first : kLine;
        for (long panel = 0; panel < P::kRowPanels; ++panel) {
          const int rows = Rows::rows(panel);
          // Columns first + r, first + r + kStrideW, ... are of one phase.
          for (long r = 0; r < P::kStrideW; ++r) {
            const long phase = phase0 + (r + P::kBeginW) % P::kStrideW;
            const long step = kTapPhases<P>.first[phase], depth = kTapPhases<P>.first[phase + 1] - step;
            Tile<P>::multiply_any(
                rows, edge, depth,
                filters + (batch % P::kGroups * P::kRowPanels + panel) * P::kRows * P::kK + step * rows,
                row_start + column_panel * P::kTileN + (r + P::kBeginW) / P::kStrideW,
                kTapPhases<P>.offset + step, true, P::kStrideW == 1 ? line : sums + r * P::kRows * P::kTileN,
                P::kTileN);
          }
          if constexpr (P::kStrideW > 1) interleave(sums, rows, line);
          finish_tile<P>(t, batch, Rows::row(panel), output_row * P::kOutW + first, line, kLine, rows,
                         columns);
        }
      }
    }
  }
};

}  // namespace

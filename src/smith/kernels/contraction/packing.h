// Operands become panels: for each step of k the values that one register tile needs, side by side.
#pragma once

#include "smith/kernels/contraction/config.h"
#include "smith/kernels/contraction/panels.h"
#include "smith/kernels/memory/transpose.h"

namespace {

// Columns of a square become rows. Of the square's rows the first `count` are read, the others taken as
// zeros.
SMITH_INLINE void transpose_into(const float* in, long in_stride, int count, float* out, long out_stride) {
  Vec v[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) v[i] = i < count ? load<Vec>(in + i * in_stride) : Vec{};
  transpose_square(v);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) store(out + i * out_stride, v[i]);
}

// One panel of a: out[k][i] for its rows i, from step first_k on.
//
// Whole vectors are stored though a panel has fewer rows: what lies behind them is overwritten by a later
// step, so steps go upwards and the last rows go before the first. The last steps, whose vectors would end
// behind the panel, are done by elements: the panel there is another thread's.
template <class P>
__attribute__((noinline)) void pack_a_panel(const typename P::Tensors& tensors, long batch, long panel,
                                            long first_k, long steps, float* out) {
  const typename P::Tensors t = tensors;
  const long row0 = Panels<P>::row(panel);
  const int rows = Panels<P>::rows(panel);
  // The last step whose vectors end inside the panel.
  const long last_whole = steps - (((rows - 1) / kLanes + 1) * kLanes + rows - 1) / rows;
  long step = 0;
  if constexpr (P::kLayoutA == Layout::kAlongDepth) {
    const float* const source = P::a(t) + P::a_batch(batch) + P::a_side(row0) + first_k;
    for (; step + kLanes - 1 <= last_whole; step += kLanes)
      for (int i = (rows - 1) / kLanes * kLanes; i >= 0; i -= kLanes)
        transpose_into(source + i * P::kASide + step, P::kASide, rows - i, out + step * rows + i, rows);
  } else if constexpr (P::kLayoutA == Layout::kAlongSide) {
    const float* const source = P::a(t) + P::a_batch(batch) + row0;
    if (row0 + (rows + kLanes - 1) / kLanes * kLanes <= P::kM)
      for (; step <= last_whole; ++step)
        for (int i = (rows - 1) / kLanes * kLanes; i >= 0; i -= kLanes)
          store(out + step * rows + i, load<Vec>(source + P::a_depth(first_k + step) + i));
  }
  for (; step < steps; ++step)
    for (int i = 0; i < rows; ++i) out[step * rows + i] = P::a_element(t, batch, row0 + i, first_k + step);
}

// One panel of b: out[k][j] for its columns j, from step first_k on; zeros where there are fewer than kTileN.
// Whole panels by vectors; the last, where it is narrower, element by element.
template <class P>
__attribute__((noinline)) void pack_b_panel(const typename P::Tensors& tensors, long batch, long panel,
                                            long first_k, long steps, float* out) {
  const typename P::Tensors t = tensors;
  const long column0 = panel * P::kTileN;
  const long columns = P::kN - column0 < P::kTileN ? P::kN - column0 : P::kTileN;
  if constexpr (P::kLayoutB != Layout::kOther)
    if (columns == P::kTileN) {
      const float* const source = P::b(t) + P::b_batch(batch) + P::b_side(column0);
      if constexpr (P::kLayoutB == Layout::kAlongSide) {
        for (long step = 0; step < steps; ++step)
          for (int j = 0; j < P::kVectors; ++j)
            store(out + step * P::kTileN + j * kLanes,
                  load<Vec>(source + P::b_depth(first_k + step) + j * kLanes));
      } else {
        long step = 0;
        for (; step + kLanes <= steps; step += kLanes)
          for (int j = 0; j < P::kVectors; ++j)
            transpose_into(source + P::b_side(j * kLanes) + first_k + step, P::kBSide, kLanes,
                           out + step * P::kTileN + j * kLanes, P::kTileN);
        for (step = steps - steps % kLanes; step < steps; ++step)
          for (long j = 0; j < P::kTileN; ++j)
            out[step * P::kTileN + j] = source[P::b_side(j) + first_k + step];
      }
      return;
    }
  for (long step = 0; step < steps; ++step)
    for (long j = 0; j < P::kTileN; ++j)
      out[step * P::kTileN + j] = j >= columns ? 0.0f : P::b_element(t, batch, column0 + j, first_k + step);
}

}  // namespace

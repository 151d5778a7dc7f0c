// Attention as one kernel: softmax(score(q k')) v, block of keys by block of keys. The scores of a few
// queries and one block of keys are all that ever exists; the softmax keeps a running maximum and a running
// sum, and what was added up so far is scaled down where the maximum grew.
//
//   struct Tensors { ... };
//   kBatch, kQueries, kKeys, kDepth, kWidth           sizes: q[query][depth], k[key][depth], v[key][width]
//   kRows, kBlock                                     queries of a piece of work, keys of a block
//   kCausal                                           keys from query + kCausal on weigh nothing; 0: all
//   count kQRow, kQColumn, kKRow, kKColumn, kVRow, kYRow    strides q(t, batch), k(t, batch), v(t, batch),
//   y(t, batch) score<F>(t, batch, query, first, column, sums)    what the graph makes of a sum of products;
//   the key is
//                                                     first + column, the sum lies at sums[column]
#pragma once

#include <omp.h>

#include <algorithm>
#include <utility>

#include "smith/kernels/math/exp_low.h"
#include "smith/kernels/memory/transpose.h"
#include "smith/kernels/vectors/accumulators.h"
#include "smith/kernels/vectors/extrema.h"

namespace {

template <class P>
struct AttentionKernel {
  using Tensors = typename P::Tensors;

  // Called by every thread of the team.
  static void work(const Tensors& t) {
    constexpr long pieces = (P::kQueries + P::kRows - 1) / P::kRows;
#pragma omp for schedule(dynamic)
    for (long i = 0; i < P::kBatch * pieces; ++i) piece(t, i / pieces, (pieces - 1 - i % pieces) * P::kRows);
  }

 private:
  // Few queries: keys are read where they lie.
  static constexpr bool kDots = P::kQueries <= 4 && P::kKColumn == 1 && P::kQColumn == 1;
  static constexpr long kMostCopied = 1 << 15;         // floats, on the stack of a thread
  static constexpr long kPanel = 2 * kLanes;           // keys that are scored at once
  static constexpr int kTall = kLanes == 16 ? 12 : 6;  // queries that are worked on at once
  // Values that lie far apart, among those of other heads, are copied side by side: every few queries go over
  // all of a block's, and each would be a page of its own.
  static constexpr bool kCopiesValues =
      !kDots && P::kVRow > 2 * P::kWidth&& P::kBlock* P::kWidth <= kMostCopied;
  static constexpr long kVStep = kCopiesValues ? P::kWidth : P::kVRow;

  // Keys [0, count) as panels [depth][kPanel], so that vectors lie along keys; what is missing of the last
  // one is zero. Their values are prefetched meanwhile: they are read by columns, which the hardware does not
  // foresee.
  static inline void pack_keys(const float* k, const float* v, long count, float* panels) {
    for (long first = 0; first < count; first += kPanel, panels += P::kDepth * kPanel)
      for (long part = 0; part < kPanel; part += kLanes) {
        const float* from = k + (first + part) * P::kKRow;
        const long keys = std::clamp(count - first - part, 0L, kLanes);
        long d = 0;
        if (P::kKColumn == 1)
          for (; d + kLanes <= P::kDepth; d += kLanes) {
            if (d % 16 == 0 && d < P::kWidth)
              for (long i = 0; i < keys; ++i) __builtin_prefetch(v + (first + part + i) * P::kVRow + d);
            Vec square[kLanes] = {};
            if (keys == kLanes)
              for (long i = 0; i < kLanes; ++i) square[i] = load<Vec>(from + i * P::kKRow + d);
            else
              for (long i = 0; i < keys; ++i) square[i] = load<Vec>(from + i * P::kKRow + d);
            transpose_square(square);
            for (long i = 0; i < kLanes; ++i) store(panels + (d + i) * kPanel + part, square[i]);
          }
        for (; d < P::kDepth; ++d)
          for (long i = 0; i < kLanes; ++i)
            panels[d * kPanel + part + i] = i < keys ? from[i * P::kKRow + d * P::kKColumn] : 0.0f;
      }
  }
  static inline void copy_values(const float* v, long count, float* values) {
    for (long i = 0; i < count; ++i)
      __builtin_memcpy(values + i * P::kWidth, v + i * P::kVRow, P::kWidth * sizeof(float));
  }

  // sums[r][column] = q[r] . key[column] for R queries and the panels of `count` keys.
  template <int R>
  static SMITH_INLINE void score_panels(const float* q, const float* panels, long count, float* sums) {
    for (long column = 0; column < count; column += kPanel, panels += P::kDepth * kPanel) {
      Vec a[R][2] = {};
#pragma GCC unroll 2
      for (long d = 0; d < P::kDepth; ++d) {
        const Vec k0 = load<Vec>(panels + d * kPanel), k1 = load<Vec>(panels + d * kPanel + kLanes);
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) {
          const Vec x = set<Vec>(q[r * P::kQRow + d * P::kQColumn]);
          a[r][0] += x * k0;
          a[r][1] += x * k1;
        }
      }
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        store(sums + r * P::kBlock + column, a[r][0]);
        store(sums + r * P::kBlock + column + kLanes, a[r][1]);
      }
    }
  }

  // The same for keys as they lie: one dot product each.
  static inline void score_dots(const float* q, const float* k, long count, float* sums) {
    for (long column = 0; column < count; ++column) {
      Vec a = set<Vec>(0.0f);
      float rest = 0;
      long d = 0;
#pragma GCC unroll 8
      for (; d + kLanes <= P::kDepth; d += kLanes)
        a += load<Vec>(q + d) * load<Vec>(k + column * P::kKRow + d);
      for (; d < P::kDepth; ++d) rest += q[d] * k[column * P::kKRow + d];
      sums[column] = across<Plus>(a) + rest;
    }
  }

  // y[r] = y[r] * shrink[r] + sum over columns of weight[r][column] v[column], along U vectors of the width.
  template <int R, class F, int U>
  static SMITH_INLINE void add_values(const float* weights, const float* v, long count, const float* shrink,
                                      float* y) {
    constexpr long step = sizeof(F) / 4;
    F a[R][U];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
      for (int u = 0; u < U; ++u) a[r][u] = load<F>(y + r * P::kYRow + u * step) * shrink[r];
    for (long column = 0; column < count; ++column) {
      F x[U];
      for (int u = 0; u < U; ++u) x[u] = load<F>(v + column * kVStep + u * step);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r)
        for (int u = 0; u < U; ++u) a[r][u] += set<F>(weights[r * P::kBlock + column]) * x[u];
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
      for (int u = 0; u < U; ++u) store(y + r * P::kYRow + u * step, a[r][u]);
  }

  // Sums become weights exp(score - largest) of one query; returns by what earlier results shrink.
  static inline float weigh(const Tensors& t, long batch, long query, long first, long count, float* sums,
                            float& largest, float& total) {
    const long whole = count - count % kLanes;
    Vec m = set<Vec>(largest);
    for (long column = 0; column < whole; column += kLanes) {
      const Vec s = P::template score<Vec>(t, batch, query, first, column, sums);
      store(sums + column, s);
      m = maximum(m, s);
    }
    // A last vector is filled up with keys that weigh nothing.
    if (whole < count) {
      for (long column = whole; column < count; ++column)
        sums[column] = P::template score<float>(t, batch, query, first, column, sums);
      for (long column = count; column < whole + kLanes; ++column) sums[column] = -__builtin_inff();
      m = maximum(m, load<Vec>(sums + whole));
    }
    const float most = across<Larger>(m);
    // Nothing but masked keys so far: any shift will do, their weights are zero.
    const float shift = most == -__builtin_inff() ? 0.0f : most;
    Vec added = set<Vec>(0.0f);
    for (long column = 0; column < count; column += kLanes) {
      const Vec w = exp_low(load<Vec>(sums + column) - shift);
      store(sums + column, w);
      added += w;
    }
    const float shrink = largest == most ? 1.0f : exp_low(largest - shift);
    total = total * shrink + across<Plus>(added);
    largest = most;
    return shrink;
  }

  struct Running {
    float largest[P::kRows], total[P::kRows];
  };

  // R queries and a block of keys.
  template <int R>
  static inline void block(const Tensors& t, long batch, long query, long row, long first, long count,
                           const float* q, const float* k, const float* panels, const float* v, float* y,
                           Running& now) {
    if (P::kCausal > 0) count = std::min(count, query + R - 1 + P::kCausal - first);
    if (count <= 0) return;
    alignas(64) float sums[R * P::kBlock];
    float shrink[R];
    if constexpr (kDots)
      for (int r = 0; r < R; ++r) score_dots(q + r * P::kQRow, k, count, sums + r * P::kBlock);
    else
      score_panels<R>(q, panels, count, sums);
    for (int r = 0; r < R; ++r)
      shrink[r] = weigh(t, batch, query + r, first, count, sums + r * P::kBlock, now.largest[row + r],
                        now.total[row + r]);
    // Enough sums at once to hide the latency of each; long pieces of rows.
    constexpr int wide = R == 1 ? 8 : R == 2 ? 4 : 2;
    long d = 0;
    for (; d + wide * kLanes <= P::kWidth; d += wide * kLanes)
      add_values<R, Vec, wide>(sums, v + d, count, shrink, y + d);
    for (; d + kLanes <= P::kWidth; d += kLanes) add_values<R, Vec, 1>(sums, v + d, count, shrink, y + d);
    for (d = P::kWidth - P::kWidth % kLanes; d < P::kWidth; ++d)
      add_values<R, float, 1>(sums, v + d, count, shrink, y + d);
  }

  // kRows queries (fewer at the end) from `from` on.
  static inline void piece(const Tensors& t, long batch, long from) {
    const long rows = std::min(P::kRows, P::kQueries - from);
    const float* q = P::q(t, batch) + from * P::kQRow;
    const float* k = P::k(t, batch);
    const float* v = P::v(t, batch);
    float* y = P::y(t, batch) + from * P::kYRow;
    alignas(64) float panels[kDots ? 1 : P::kDepth * ((P::kBlock + kPanel - 1) / kPanel * kPanel)];
    alignas(64) float copied[kCopiesValues ? P::kBlock * P::kWidth : 1];
    Running now;
    for (long row = 0; row < rows; ++row) {
      now.largest[row] = -__builtin_inff();
      now.total[row] = 0;
      std::fill_n(y + row * P::kYRow, P::kWidth, 0.0f);
    }
    const long last = P::kCausal > 0 ? std::min(P::kKeys, from + rows - 1 + P::kCausal) : P::kKeys;
    for (long first = 0; first < last; first += P::kBlock) {
      const long count = std::min(P::kBlock, last - first);
      const float* values = v + first * P::kVRow;
      if constexpr (!kDots) pack_keys(k + first * P::kKRow, values, count, panels);
      if constexpr (kCopiesValues) {
        copy_values(values, count, copied);
        values = copied;
      }
      long row = 0;
      const auto some = [&]<int R>(std::integral_constant<int, R>) {
        for (; row + R <= rows; row += R)
          block<R>(t, batch, from + row, row, first, count, q + row * P::kQRow, k + first * P::kKRow, panels,
                   values, y + row * P::kYRow, now);
      };
      some(std::integral_constant<int, kTall>());
      some(std::integral_constant<int, 4>());
      some(std::integral_constant<int, 2>());
      some(std::integral_constant<int, 1>());
    }
    for (long row = 0; row < rows; ++row) {
      const float scale = 1.0f / now.total[row];
      for (long d = 0; d < P::kWidth; ++d) y[row * P::kYRow + d] *= scale;
    }
  }
};

}  // namespace

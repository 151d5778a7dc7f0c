// Iteration shared by the loops: splits a Walk among threads in runs of its innermost dimension.
#pragma once

#include <omp.h>

#include "baseline/onednn/loops/loops.h"

namespace kforge::loops {
namespace {

// Fewer elements than this are not worth waking threads for.
constexpr Index kSerial = 16384;

inline Index least(Index a, Index b) { return a < b ? a : b; }
inline Index most(Index a, Index b) { return a > b ? a : b; }

struct BFloat16 {
  unsigned short bits;
};
inline float float_of(BFloat16 x) { return __builtin_bit_cast(float, static_cast<unsigned>(x.bits) << 16); }

struct Range {
  Index begin, end;
};

// The part of [0, n) that belongs to this thread of the enclosing parallel region.
inline Range my_share(Index n) {
  Index threads = omp_get_num_threads(), me = omp_get_thread_num();
  return {n * me / threads, n * (me + 1) / threads};
}

// Calls row(offsets, count) for runs along the innermost dimension; offsets[k] is where operand k's run
// begins.
template <int kOperands, class Row>
void for_rows(const Walk& walk, Row row) {
  Index inner = walk.size[walk.rank - 1], outer = 1;
  for (int d = 0; d + 1 < walk.rank; ++d) outer *= walk.size[d];
  if (inner == 0 || outer == 0) return;
#pragma omp parallel if (inner * outer > kSerial)
  {
    Range mine = my_share(inner * outer);
    Index at = mine.begin;
    Index counter[kMaxRank] = {};
    Index rest = at / inner, column = at % inner;
    for (int d = walk.rank - 2; d >= 0; --d) {
      counter[d] = rest % walk.size[d];
      rest /= walk.size[d];
    }
    while (at < mine.end) {
      Index count = least(inner - column, mine.end - at);
      Index offsets[kOperands];
      for (int k = 0; k < kOperands; ++k) {
        offsets[k] = column * walk.stride[k][walk.rank - 1];
        for (int d = 0; d + 1 < walk.rank; ++d) offsets[k] += counter[d] * walk.stride[k][d];
      }
      row(offsets, count);
      at += count;
      column = 0;
      for (int d = walk.rank - 2; d >= 0; --d) {
        if (++counter[d] < walk.size[d]) break;
        counter[d] = 0;
      }
    }
  }
}

}  // namespace
}  // namespace kforge::loops

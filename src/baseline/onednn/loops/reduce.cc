// Reductions of [outer, n, inner] over n. Sums are taken in blocks whose results are added in double, so that
// long rows lose no accuracy against a sum in order.
#include "baseline/onednn/loops/vector_math.h"
#include "baseline/onednn/loops/walk.h"

namespace kforge::loops {
namespace {

constexpr Index kBlock = 4096;  // elements of a row reduced in float at a time

struct Sum {
  static constexpr float kStart = 0;
  static float join(float a, float x) { return a + x; }
  static double merge(double a, double b) { return a + b; }
};
struct SumAbs : Sum {
  static float join(float a, float x) { return a + absolute(x); }
};
struct SumSquare : Sum {
  static float join(float a, float x) { return a + x * x; }
};
struct Product {
  static constexpr float kStart = 1;
  static float join(float a, float x) { return a * x; }
  static double merge(double a, double b) { return a * b; }
};
struct Largest {
  static constexpr float kStart = -__builtin_inff();
  static float join(float a, float x) { return a < x || x != x ? x : a; }
  static double merge(double a, double b) { return a < b || b != b ? b : a; }
};
struct Smallest {
  static constexpr float kStart = __builtin_inff();
  static float join(float a, float x) { return a > x || x != x ? x : a; }
  static double merge(double a, double b) { return a > b || b != b ? b : a; }
};

// Independent lanes hide the latency of the addition; the compiler turns them into vectors.
template <class Op>
float reduce_block(const float* x, Index n) {
  constexpr int kLanes = 64;
  float lane[kLanes];
  for (int l = 0; l < kLanes; ++l) lane[l] = Op::kStart;
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes)
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) lane[l] = Op::join(lane[l], x[i + l]);
  double all = Op::kStart;
  for (int l = 0; l < kLanes; ++l) all = Op::merge(all, lane[l]);
  float rest = Op::kStart;
  for (; i < n; ++i) rest = Op::join(rest, x[i]);
  return static_cast<float>(Op::merge(all, rest));
}

template <class Op>
double reduce_run(const float* x, Index n) {
  double all = Op::kStart;
  for (Index i = 0; i < n; i += kBlock) all = Op::merge(all, reduce_block<Op>(x + i, least(kBlock, n - i)));
  return all;
}

template <class Op>
void reduce_rows(const float* x, float* y, Index outer, Index n) {
  if (outer >= omp_get_max_threads() || n < kSerial) {
#pragma omp parallel for schedule(static) if (outer * n > kSerial)
    for (Index o = 0; o < outer; ++o) y[o] = static_cast<float>(reduce_run<Op>(x + o * n, n));
    return;
  }
  for (Index o = 0; o < outer; ++o) {  // few long rows: the threads share each
    double all = Op::kStart;
#pragma omp parallel
    {
      Range mine = my_share(n);
      double part = reduce_run<Op>(x + o * n + mine.begin, mine.end - mine.begin);
#pragma omp critical(kforge_reduce)
      all = Op::merge(all, part);
    }
    y[o] = static_cast<float>(all);
  }
}

constexpr Index kColumns =
    512;                      // columns reduced together: two lines of accumulators stay in the first cache
constexpr Index kRows = 256;  // rows added in float before they go to the outer accumulator

template <class Op>
void reduce_strip(const float* x, float* y, Index n, Index inner, Index width) {
  float total[kColumns];
  for (Index c = 0; c < width; ++c) total[c] = Op::kStart;
  for (Index r0 = 0; r0 < n; r0 += kRows) {
    float part[kColumns];
    for (Index c = 0; c < width; ++c) part[c] = Op::kStart;
    const Index rows = least(kRows, n - r0);
    Index r = 0;
    for (; r + 4 <= rows; r += 4) {
      const float* p = x + (r0 + r) * inner;
#pragma omp simd
      for (Index c = 0; c < width; ++c)
        part[c] = Op::join(Op::join(Op::join(Op::join(part[c], p[c]), p[inner + c]), p[2 * inner + c]),
                           p[3 * inner + c]);
    }
    for (; r < rows; ++r) {
      const float* p = x + (r0 + r) * inner;
#pragma omp simd
      for (Index c = 0; c < width; ++c) part[c] = Op::join(part[c], p[c]);
    }
#pragma omp simd
    for (Index c = 0; c < width; ++c) total[c] = static_cast<float>(Op::merge(total[c], part[c]));
  }
  for (Index c = 0; c < width; ++c) y[c] = total[c];
}

template <class Op>
void reduce_columns(const float* x, float* y, Index outer, Index n, Index inner) {
  const Index strips = (inner + kColumns - 1) / kColumns;
  const Index threads = omp_get_max_threads();
  if (outer * strips >= threads || n * inner < kSerial) {
#pragma omp parallel for collapse(2) schedule(static) if (outer * n * inner > kSerial)
    for (Index o = 0; o < outer; ++o)
      for (Index s = 0; s < strips; ++s)
        reduce_strip<Op>(x + o * n * inner + s * kColumns, y + o * inner + s * kColumns, n, inner,
                         least(kColumns, inner - s * kColumns));
    return;
  }
  for (Index o = 0; o < outer; ++o)  // few columns: the threads share the rows
    for (Index s = 0; s < strips; ++s) {
      const Index width = least(kColumns, inner - s * kColumns);
      const float* from = x + o * n * inner + s * kColumns;
      float* to = y + o * inner + s * kColumns;
      double all[kColumns];
      for (Index c = 0; c < width; ++c) all[c] = Op::kStart;
#pragma omp parallel
      {
        Range mine = my_share(n);
        float part[kColumns];
        reduce_strip<Op>(from + mine.begin * inner, part, mine.end - mine.begin, inner, width);
#pragma omp critical(kforge_reduce)
        for (Index c = 0; c < width; ++c) all[c] = Op::merge(all[c], part[c]);
      }
      for (Index c = 0; c < width; ++c) to[c] = static_cast<float>(all[c]);
    }
}

template <class Op>
void reduce_as(const float* x, float* y, Index outer, Index n, Index inner) {
  if (inner == 1)
    reduce_rows<Op>(x, y, outer, n);
  else
    reduce_columns<Op>(x, y, outer, n, inner);
}

double exponential_sum(const float* x, Index n, float top) {
  double all = 0;
  for (Index i = 0; i < n; i += kBlock) {
    const Index end = least(n, i + kBlock);
    float part = 0;
#pragma omp simd reduction(+ : part)
    for (Index j = i; j < end; ++j) part += exponential(x[j] - top);
    all += part;
  }
  return all;
}

float log_sum_exp_row(const float* x, Index n) {
  float top = static_cast<float>(reduce_run<Largest>(x, n));
  if (top - top != 0) return top;  // infinite or NaN
  return top + logf(static_cast<float>(exponential_sum(x, n, top)));
}

void log_sum_exp(const float* x, float* y, Index outer, Index n, Index inner) {
  if (inner == 1) {
#pragma omp parallel for schedule(static) if (outer * n > kSerial / 4)
    for (Index o = 0; o < outer; ++o) y[o] = log_sum_exp_row(x + o * n, n);
    return;
  }
  constexpr Index kWidth = 256;
  const Index strips = (inner + kWidth - 1) / kWidth;
#pragma omp parallel for collapse(2) schedule(static) if (outer * n * inner > kSerial / 4)
  for (Index o = 0; o < outer; ++o)
    for (Index s = 0; s < strips; ++s) {
      const Index width = least(kWidth, inner - s * kWidth);
      const float* from = x + o * n * inner + s * kWidth;
      float top[kWidth], sum[kWidth];
      reduce_strip<Largest>(from, top, n, inner, width);
      for (Index c = 0; c < width; ++c) sum[c] = 0;
      for (Index r = 0; r < n; ++r)
#pragma omp simd
        for (Index c = 0; c < width; ++c) sum[c] += exponential(from[r * inner + c] - top[c]);
      float* to = y + o * inner + s * kWidth;
#pragma omp simd
      for (Index c = 0; c < width; ++c) {
        float value = top[c] + logf(sum[c]);
        to[c] = top[c] - top[c] != 0 ? top[c] : value;
      }
    }
}

// Exact elements first: `better` decides a replacement, so that ties keep the first or take the last.
template <class Better>
void arg_extreme_as(const float* x, long long* y, Index outer, Index n, Index inner, Better better) {
  constexpr Index kWidth = 256;
  const Index strips = (inner + kWidth - 1) / kWidth;
#pragma omp parallel for collapse(2) schedule(static) if (outer * n * inner > kSerial)
  for (Index o = 0; o < outer; ++o)
    for (Index s = 0; s < strips; ++s) {
      const Index width = least(kWidth, inner - s * kWidth);
      const float* from = x + o * n * inner + s * kWidth;
      float best[kWidth];
      int where[kWidth];
      for (Index c = 0; c < width; ++c) best[c] = from[c], where[c] = 0;
      for (Index r = 1; r < n; ++r)
#pragma omp simd
        for (Index c = 0; c < width; ++c) {
          float value = from[r * inner + c];
          bool take = better(value, best[c]);
          best[c] = take ? value : best[c];
          where[c] = take ? static_cast<int>(r) : where[c];
        }
      for (Index c = 0; c < width; ++c) y[o * inner + s * kWidth + c] = where[c];
    }
}

// Rows: lanes keep their own best and the least (or last) position among the lanes' best wins.
template <class Better>
long long arg_extreme_row(const float* x, Index n, bool last, Better better) {
  constexpr int kLanes = 32;
  float best[kLanes] = {};
  int where[kLanes] = {};
  const Index lanes = least(kLanes, n);
  for (Index l = 0; l < lanes; ++l) best[l] = x[l], where[l] = static_cast<int>(l);
  Index i = lanes;
  if (lanes == kLanes)
    for (; i + kLanes <= n; i += kLanes)
#pragma omp simd
      for (int l = 0; l < kLanes; ++l) {
        bool take = better(x[i + l], best[l]);
        best[l] = take ? x[i + l] : best[l];
        where[l] = take ? static_cast<int>(i) + l : where[l];
      }
  float top = best[0];
  int at = where[0];
  for (Index l = 1; l < lanes; ++l) {
    bool equal = best[l] == top && (last ? where[l] > at : where[l] < at);
    if (equal || (best[l] != top && better(best[l], top))) top = best[l], at = where[l];
  }
  for (; i < n; ++i)
    if (better(x[i], top)) top = x[i], at = static_cast<int>(i);
  return at;
}

template <class Better>
void arg_extreme_any(const float* x, long long* y, Index outer, Index n, Index inner, bool last,
                     Better better) {
  if (inner != 1) return arg_extreme_as(x, y, outer, n, inner, better);
#pragma omp parallel for schedule(static) if (outer * n > kSerial)
  for (Index o = 0; o < outer; ++o) y[o] = arg_extreme_row(x + o * n, n, last, better);
}

}  // namespace

namespace KF_LEVEL {

void reduce(Reduce op, const float* x, float* y, Index outer, Index n, Index inner) {
  switch (op) {
    case Reduce::kSum:
      return reduce_as<Sum>(x, y, outer, n, inner);
    case Reduce::kMax:
      return reduce_as<Largest>(x, y, outer, n, inner);
    case Reduce::kMin:
      return reduce_as<Smallest>(x, y, outer, n, inner);
    case Reduce::kProd:
      return reduce_as<Product>(x, y, outer, n, inner);
    case Reduce::kSumAbs:
      return reduce_as<SumAbs>(x, y, outer, n, inner);
    case Reduce::kSumSquare:
      return reduce_as<SumSquare>(x, y, outer, n, inner);
    case Reduce::kLogSumExp:
      return log_sum_exp(x, y, outer, n, inner);
  }
}

void arg_extreme(bool max, bool last, const float* x, long long* y, Index outer, Index n, Index inner) {
  if (max && last)
    return arg_extreme_any(x, y, outer, n, inner, last, [](float a, float b) { return a >= b; });
  if (max) return arg_extreme_any(x, y, outer, n, inner, last, [](float a, float b) { return a > b; });
  if (last) return arg_extreme_any(x, y, outer, n, inner, last, [](float a, float b) { return a <= b; });
  return arg_extreme_any(x, y, outer, n, inner, last, [](float a, float b) { return a < b; });
}

}  // namespace KF_LEVEL
}  // namespace kforge::loops

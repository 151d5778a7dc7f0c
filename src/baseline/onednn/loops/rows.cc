// Loops over [outer, n, inner] whose result has the same shape: softmax, running sums, top-k.
#include "baseline/onednn/loops/vector_math.h"
#include "baseline/onednn/loops/walk.h"

namespace kforge::loops {
namespace {

float row_maximum(const float* x, Index n) {
  float top = x[0];
#pragma omp simd reduction(max : top)
  for (Index i = 0; i < n; ++i) top = x[i] > top ? x[i] : top;
  return top;
}

void softmax_row(bool log, const float* x, float* y, Index n) {
  float top = row_maximum(x, n), sum = 0;
  if (log) {
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < n; ++i) sum += exponential(x[i] - top);
    float shift = logf(sum);
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] = (x[i] - top) - shift;
    return;
  }
#pragma omp simd reduction(+ : sum)
  for (Index i = 0; i < n; ++i) {
    float e = exponential(x[i] - top);
    y[i] = e;
    sum += e;
  }
  float scale = 1.0f / sum;
#pragma omp simd
  for (Index i = 0; i < n; ++i) y[i] *= scale;
}

constexpr Index kWidth = 128;

void softmax_strip(bool log, const float* x, float* y, Index n, Index inner, Index width) {
  float top[kWidth], sum[kWidth];
  for (Index c = 0; c < width; ++c) top[c] = x[c], sum[c] = 0;
  for (Index r = 1; r < n; ++r)
#pragma omp simd
    for (Index c = 0; c < width; ++c) top[c] = x[r * inner + c] > top[c] ? x[r * inner + c] : top[c];
  for (Index r = 0; r < n; ++r)
#pragma omp simd
    for (Index c = 0; c < width; ++c) {
      float e = exponential(x[r * inner + c] - top[c]);
      y[r * inner + c] = log ? x[r * inner + c] : e;
      sum[c] += e;
    }
#pragma omp simd
  for (Index c = 0; c < width; ++c) sum[c] = log ? logf(sum[c]) : 1.0f / sum[c];
  for (Index r = 0; r < n; ++r)
#pragma omp simd
    for (Index c = 0; c < width; ++c) {
      float value = y[r * inner + c];
      y[r * inner + c] = log ? (value - top[c]) - sum[c] : value * sum[c];
    }
}

// Eight neighbours at a time: three shifted additions make their running values, one more adds what came
// before.
typedef float Eight __attribute__((vector_size(32)));
typedef int Places __attribute__((vector_size(32)));

struct Plus {
  static constexpr float kStart = 0;
  template <class T>
  static T join(T a, T b) {
    return a + b;
  }
};
struct Times {
  static constexpr float kStart = 1;
  template <class T>
  static T join(T a, T b) {
    return a * b;
  }
};

template <class Op>
void scan_row(bool exclusive, bool reverse, const float* x, float* y, Index n) {
  const Eight start = Op::kStart - Eight{};
  const Places by_one = {8, 0, 1, 2, 3, 4, 5, 6}, by_two = {8, 8, 0, 1, 2, 3, 4, 5},
               by_four = {8, 8, 8, 8, 0, 1, 2, 3};
  const Places last = {7, 7, 7, 7, 7, 7, 7, 7}, backwards = {7, 6, 5, 4, 3, 2, 1, 0};
  Eight before = start;
  Index i = 0;
  for (; i + 8 <= n; i += 8) {
    const Index at = reverse ? n - 8 - i : i;
    Eight v;
    __builtin_memcpy(&v, x + at, sizeof v);
    if (reverse) v = __builtin_shuffle(v, backwards);
    v = Op::join(v, __builtin_shuffle(v, start, by_one));
    v = Op::join(v, __builtin_shuffle(v, start, by_two));
    v = Op::join(v, __builtin_shuffle(v, start, by_four));
    Eight result = Op::join(before, exclusive ? __builtin_shuffle(v, start, by_one) : v);
    before = Op::join(before, __builtin_shuffle(v, last));
    if (reverse) result = __builtin_shuffle(result, backwards);
    __builtin_memcpy(y + at, &result, sizeof result);
  }
  float run = before[0];
  for (; i < n; ++i) {
    const Index at = reverse ? n - 1 - i : i;
    const float next = Op::join(run, x[at]);
    y[at] = exclusive ? run : next;
    run = next;
  }
}

template <class Op>
void scan_as(bool exclusive, bool reverse, const float* x, float* y, Index outer, Index n, Index inner) {
  if (inner == 1) {
#pragma omp parallel for schedule(static) if (outer * n > kSerial)
    for (Index o = 0; o < outer; ++o) scan_row<Op>(exclusive, reverse, x + o * n, y + o * n, n);
    return;
  }
  constexpr Index kStrip = 512;
  const Index strips = (inner + kStrip - 1) / kStrip;
#pragma omp parallel for collapse(2) schedule(static) if (outer * n * inner > kSerial)
  for (Index o = 0; o < outer; ++o)
    for (Index s = 0; s < strips; ++s) {
      const Index width = least(kStrip, inner - s * kStrip);
      float run[kStrip];
      for (Index c = 0; c < width; ++c) run[c] = Op::kStart;
      for (Index i = 0; i < n; ++i) {
        Index at = (o * n + (reverse ? n - 1 - i : i)) * inner + s * kStrip;
#pragma omp simd
        for (Index c = 0; c < width; ++c) {
          float before = run[c];
          run[c] = Op::join(run[c], x[at + c]);
          y[at + c] = exclusive ? before : run[c];
        }
      }
    }
}

struct Entry {
  float value;
  Index index;
};

// True when a ranks before b: by value, then by the smaller index, as ONNX asks.
inline bool ranks_before(bool largest, Entry a, Entry b) {
  if (a.value != b.value) return largest ? a.value > b.value : a.value < b.value;
  return a.index < b.index;
}

// A heap whose root is the weakest entry kept.
void sift_down(bool largest, Entry* heap, Index size, Index at) {
  while (true) {
    Index weakest = at;
    for (Index child = 2 * at + 1; child <= 2 * at + 2 && child < size; ++child)
      if (ranks_before(largest, heap[weakest], heap[child])) weakest = child;
    if (weakest == at) return;
    Entry keep = heap[at];
    heap[at] = heap[weakest];
    heap[weakest] = keep;
    at = weakest;
  }
}

void topk_row(bool largest, const float* x, float* y, long long* where, Index n, Index inner, Index k,
              Entry* heap) {
  for (Index i = 0; i < k; ++i) heap[i] = {x[i * inner], i};
  for (Index i = k / 2; i-- > 0;) sift_down(largest, heap, k, i);
  for (Index i = k; i < n; ++i) {
    Entry next{x[i * inner], i};
    if (!ranks_before(largest, next, heap[0])) continue;
    heap[0] = next;
    sift_down(largest, heap, k, 0);
  }
  for (Index size = k; size-- > 0;) {  // the weakest goes last
    y[size * inner] = heap[0].value;
    where[size * inner] = heap[0].index;
    heap[0] = heap[size];
    sift_down(largest, heap, size, 0);
  }
}

}  // namespace

namespace KF_LEVEL {

void softmax(bool log, const float* x, float* y, Index outer, Index n, Index inner) {
  if (inner == 1) {
#pragma omp parallel for schedule(static) if (outer * n > kSerial / 4)
    for (Index o = 0; o < outer; ++o) softmax_row(log, x + o * n, y + o * n, n);
    return;
  }
  const Index strips = (inner + kWidth - 1) / kWidth;
#pragma omp parallel for collapse(2) schedule(static) if (outer * n * inner > kSerial / 4)
  for (Index o = 0; o < outer; ++o)
    for (Index s = 0; s < strips; ++s) {
      Index at = o * n * inner + s * kWidth;
      softmax_strip(log, x + at, y + at, n, inner, least(kWidth, inner - s * kWidth));
    }
}

void scan(bool product, bool exclusive, bool reverse, const float* x, float* y, Index outer, Index n,
          Index inner) {
  if (product)
    scan_as<Times>(exclusive, reverse, x, y, outer, n, inner);
  else
    scan_as<Plus>(exclusive, reverse, x, y, outer, n, inner);
}

void topk(bool largest, const float* x, float* y, long long* where, Index outer, Index n, Index inner,
          Index k) {
  if (k == 0) return;
#pragma omp parallel if (outer * n * inner > kSerial)
  {
    Entry* heap = static_cast<Entry*>(__builtin_malloc(static_cast<unsigned long>(k) * sizeof(Entry)));
#pragma omp for schedule(static)
    for (Index r = 0; r < outer * inner; ++r) {
      Index o = r / inner, c = r % inner;
      topk_row(largest, x + o * n * inner + c, y + o * k * inner + c, where + o * k * inner + c, n, inner, k,
               heap);
    }
    __builtin_free(heap);
  }
}

}  // namespace KF_LEVEL
}  // namespace kforge::loops

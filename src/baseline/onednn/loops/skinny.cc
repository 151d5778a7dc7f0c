// Products with few rows, limited by reading the weights once. Weights may be float, bfloat16 or int8 as
// stored.
#include "baseline/onednn/loops/walk.h"

namespace kforge::loops {
namespace {

inline float value_of(float x) { return x; }
inline float value_of(signed char x) { return static_cast<float>(x); }
inline float value_of(BFloat16 x) { return float_of(x); }
inline float value_of(_Float16 x) { return static_cast<float>(x); }

constexpr int kRows = 4;  // rows of x that share one reading of the weights

// y[m, n] = sum_k x[m, k] w[n, k]: each weight row is contiguous.
template <class T, int kM>
void rows_by_rows(const float* x, const T* w, const float* bias, float* y, Index n, Index k) {
#pragma omp parallel for schedule(static) if (n * k > kSerial)
  for (Index j = 0; j < n; ++j) {
    const T* row = w + j * k;
    double total[kM] = {};
    for (Index i0 = 0; i0 < k; i0 += 4096) {
      const Index end = least(k, i0 + 4096);
      float sum[kM] = {};
      for (int r = 0; r < kM; ++r) {
        const float* xr = x + r * k;
        float part = 0;
#pragma omp simd reduction(+ : part)
        for (Index i = i0; i < end; ++i) part += xr[i] * value_of(row[i]);
        sum[r] = part;
      }
      for (int r = 0; r < kM; ++r) total[r] += sum[r];
    }
    for (int r = 0; r < kM; ++r) y[r * n + j] = static_cast<float>(total[r]) + (bias ? bias[j] : 0.0f);
  }
}

// y[m, n] = sum_k x[m, k] w[k, n]: a strip of columns stays in registers and the first cache while k runs.
template <class T, int kM>
void rows_by_columns(const float* x, const T* w, const float* bias, float* y, Index n, Index k) {
  constexpr Index kStrip = 256;
  const Index strips = (n + kStrip - 1) / kStrip;
#pragma omp parallel for schedule(static) if (n * k > kSerial)
  for (Index s = 0; s < strips; ++s) {
    const Index first = s * kStrip, width = least(kStrip, n - first);
    float total[kM][kStrip];
    for (int r = 0; r < kM; ++r)
      for (Index c = 0; c < width; ++c) total[r][c] = bias ? bias[first + c] : 0.0f;
    for (Index k0 = 0; k0 < k; k0 += 512) {  // partial sums, as a blocked product has them
      float part[kM][kStrip] = {};
      const Index end = least(k, k0 + 512);
      for (Index i = k0; i < end; ++i) {
        const T* row = w + i * n + first;
        for (int r = 0; r < kM; ++r) {
          const float a = x[r * k + i];
#pragma omp simd
          for (Index c = 0; c < width; ++c) part[r][c] += a * value_of(row[c]);
        }
      }
      for (int r = 0; r < kM; ++r)
        for (Index c = 0; c < width; ++c) total[r][c] += part[r][c];
    }
    for (int r = 0; r < kM; ++r)
      for (Index c = 0; c < width; ++c) y[r * n + first + c] = total[r][c];
  }
}

template <class T, bool kTransposed>
void product(const float* x, const T* w, const float* bias, float* y, Index m, Index n, Index k) {
  Index r = 0;
  for (; r + kRows <= m; r += kRows) {
    if constexpr (kTransposed)
      rows_by_rows<T, kRows>(x + r * k, w, bias, y + r * n, n, k);
    else
      rows_by_columns<T, kRows>(x + r * k, w, bias, y + r * n, n, k);
  }
  for (; r < m; ++r) {
    if constexpr (kTransposed)
      rows_by_rows<T, 1>(x + r * k, w, bias, y + r * n, n, k);
    else
      rows_by_columns<T, 1>(x + r * k, w, bias, y + r * n, n, k);
  }
}

template <bool kTransposed>
void product_of(Number type, const float* x, const void* w, const float* bias, float* y, Index m, Index n,
                Index k) {
  switch (type) {
    case Number::kBFloat16:
      return product<BFloat16, kTransposed>(x, static_cast<const BFloat16*>(w), bias, y, m, n, k);
    case Number::kFloat16:
      return product<_Float16, kTransposed>(x, static_cast<const _Float16*>(w), bias, y, m, n, k);
    case Number::kInt8:
      return product<signed char, kTransposed>(x, static_cast<const signed char*>(w), bias, y, m, n, k);
    default:
      return product<float, kTransposed>(x, static_cast<const float*>(w), bias, y, m, n, k);
  }
}

}  // namespace

namespace KF_LEVEL {

void matvec(Number type, const float* x, const void* w, const float* bias, float* y, Index m, Index n,
            Index k) {
  product_of<true>(type, x, w, bias, y, m, n, k);
}

void vecmat(Number type, const float* x, const void* w, const float* bias, float* y, Index m, Index n,
            Index k) {
  product_of<false>(type, x, w, bias, y, m, n, k);
}

}  // namespace KF_LEVEL
}  // namespace kforge::loops

// Softmax of rows:  y[b][d] = exp(x[b][d] - max_b) / sum over d of exp(x[b][d] - max_b)
//
// kforge: general
//
// What limits it: exp. Per element it takes some twenty instructions, and memory a load and a store; so exp
// is computed on whole vectors, and a row stays in the first-level cache between its three passes (maximum;
// exp and sum; scale). Vectors are NEON's four floats: right on every 64-bit Arm. The tail of a row is done
// by the same vector code on a padded copy, so that no element is rounded differently for standing at the
// end.
#include "task.h"

namespace {

constexpr long kLanes = 4;

// exp(x) for x <= 0, to about 1 ulp: 2^n * exp(r) with n = round(x / ln 2) and |r| <= ln 2 / 2, exp(r) by its
// series. Below -87 the result would be denormal, and it counts for nothing beside the row's largest, which
// is 1: x is held there, which keeps the exponent in range.
float32x4_t exp4(float32x4_t x) {
  x = vmaxq_f32(x, vdupq_n_f32(-87.0f));
  const float32x4_t n = vrndnq_f32(vmulq_n_f32(x, 1.44269504f));
  float32x4_t r =
      vfmsq_f32(x, n, vdupq_n_f32(0.693359375f));  // ln 2 in two parts: the first is exact times n
  r = vfmsq_f32(r, n, vdupq_n_f32(-2.12194440e-4f));
  float32x4_t p = vdupq_n_f32(1.0f / 5040);
  for (float coefficient : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f})
    p = vfmaq_f32(vdupq_n_f32(coefficient), p, r);
  const int32x4_t exponent = vshlq_n_s32(vcvtq_s32_f32(n), 23);
  return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), exponent));
}

float row_max(const float* row, long n) {
  float32x4_t most = vdupq_n_f32(row[0]);
  long i = 0;
  for (; i + kLanes <= n; i += kLanes) most = vmaxq_f32(most, vld1q_f32(row + i));
  float largest = vmaxvq_f32(most);
  for (; i < n; ++i) largest = std::max(largest, row[i]);
  return largest;
}

// exp(row - most) to out, and their sum. Two sums: additions of one would wait for each other.
float exp_row(const float* row, float most, float* out, long n) {
  const float32x4_t shift = vdupq_n_f32(most);
  float32x4_t even = vdupq_n_f32(0), odd = vdupq_n_f32(0);
  long i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const float32x4_t a = exp4(vsubq_f32(vld1q_f32(row + i), shift));
    const float32x4_t b = exp4(vsubq_f32(vld1q_f32(row + i + kLanes), shift));
    vst1q_f32(out + i, a);
    vst1q_f32(out + i + kLanes, b);
    even = vaddq_f32(even, a);
    odd = vaddq_f32(odd, b);
  }
  float sum = vaddvq_f32(vaddq_f32(even, odd));
  for (; i < n; i += kLanes) {
    const long left = std::min(kLanes, n - i);
    float padded[kLanes] = {most, most, most, most};
    std::copy_n(row + i, left, padded);
    vst1q_f32(padded, exp4(vsubq_f32(vld1q_f32(padded), shift)));
    std::copy_n(padded, left, out + i);
    for (long lane = 0; lane < left; ++lane) sum += padded[lane];
  }
  return sum;
}

void scale_row(float* row, float scale, long n) {
  long i = 0;
  for (; i + kLanes <= n; i += kLanes) vst1q_f32(row + i, vmulq_n_f32(vld1q_f32(row + i), scale));
  for (; i < n; ++i) row[i] *= scale;
}

}  // namespace

extern "C" void kernel(const float* x, float* y) {
  const long rows = task::B, n = task::D;
#pragma omp parallel for schedule(static)
  for (long row = 0; row < rows; ++row) {
    const float* from = x + row * n;
    float* to = y + row * n;
    scale_row(to, 1.0f / exp_row(from, row_max(from, n), to, n), n);
  }
}

// RMS normalisation:  y[b][d] = x[b][d] / sqrt(mean over d of x[b][d]^2 + 1e-5) * weight[d]
//
// kforge: general
//
// What limits it: memory. Per element 8 bytes move and 4 flops are done, far below what a core computes
// meanwhile. So each row is read from memory once: the first pass sums its squares and leaves the row (16 KB
// at D = 4096) in the first-level cache, the second pass finds it there. The output is not read again by
// anybody here, so it is written past the caches: an ordinary store would first fetch the line it is about to
// overwrite, a third of all traffic.
#include "task.h"

namespace {

constexpr long kLanes = 16;  // independent sums: enough for two 8-wide or one 16-wide vector

// Sum of squares of a row. Sixteen partial sums instead of one: they break the chain of dependent additions,
// let the compiler use vectors without -ffast-math (the order of additions is ours, not its), and round less
// than one long sum does.
float sum_of_squares(const float* row, long n) {
  float lanes[kLanes] = {};
  long i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (long lane = 0; lane < kLanes; ++lane) lanes[lane] += row[i + lane] * row[i + lane];
  float sum = 0;
  for (; i < n; ++i) sum += row[i] * row[i];
  for (float lane : lanes) sum += lane;
  return sum;
}

// out[i] = row[i] * scale * weight[i]. Streaming stores need aligned addresses, and a row begins aligned only
// when D is a multiple of 8: the elements before the first aligned one, and those after the last whole
// vector, are stored one by one.
void scale_row(const float* row, const float* weight, float scale, float* out, long n) {
  long i = 0;
#ifdef __AVX2__
  while (i < n && reinterpret_cast<uintptr_t>(out + i) % 32 != 0) {
    out[i] = row[i] * scale * weight[i];
    ++i;
  }
  const __m256 scales = _mm256_set1_ps(scale);
  for (; i + 8 <= n; i += 8) {
    const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(row + i), scales);
    _mm256_stream_ps(out + i, _mm256_mul_ps(scaled, _mm256_loadu_ps(weight + i)));
  }
#endif
  for (; i < n; ++i) out[i] = row[i] * scale * weight[i];
}

}  // namespace

extern "C" void kernel(const float* x, const float* weight, float* y) {
  const long rows = task::B, n = task::D;
  // Rows are alike, so each thread takes one piece of them: no counter to share, and neighbours in memory
  // stay together.
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (long row = 0; row < rows; ++row) {
      const float mean = sum_of_squares(x + row * n, n) / static_cast<float>(n);
      scale_row(x + row * n, weight, 1.0f / std::sqrt(mean + 1e-5f), y + row * n, n);
    }
    // Streaming stores are weakly ordered: each thread makes its own visible before it says it is done.
    _mm_sfence();
  }
}

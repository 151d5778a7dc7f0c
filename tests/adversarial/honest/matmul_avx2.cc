// Four rows by eight columns in registers, masks for the last columns.
//
// task: core/matmul
// shapes: odd
// mode: check
// expect: outcome=passed
// needs: avx2
// kforge: general
#include <immintrin.h>

#include "task.h"

template <int Rows>
static void rows_by_eight(const float* a, const float* b, float* c, __m256i mask) {
  __m256 sums[Rows];
  for (int i = 0; i < Rows; ++i) sums[i] = _mm256_setzero_ps();
  for (long k = 0; k < task::K; ++k) {
    const __m256 line = _mm256_maskload_ps(b + k * task::N, mask);
    for (int i = 0; i < Rows; ++i)
      sums[i] = _mm256_fmadd_ps(_mm256_set1_ps(a[i * task::K + k]), line, sums[i]);
  }
  for (int i = 0; i < Rows; ++i) _mm256_maskstore_ps(c + i * task::N, mask, sums[i]);
}

extern "C" void kernel(const float* a, const float* b, float* c) {
#pragma omp parallel for
  for (long j = 0; j < task::N; j += 8) {
    const int left = task::N - j < 8 ? task::N - j : 8;
    const __m256i mask =
        _mm256_cmpgt_epi32(_mm256_set1_epi32(left), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    long i = 0;
    for (; i + 4 <= task::M; i += 4) rows_by_eight<4>(a + i * task::K, b + j, c + i * task::N + j, mask);
    for (; i < task::M; ++i) rows_by_eight<1>(a + i * task::K, b + j, c + i * task::N + j, mask);
  }
}

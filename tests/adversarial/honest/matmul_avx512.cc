// Sixteen lanes, native masks for the last columns.
//
// task: core/matmul
// shapes: odd
// mode: check
// expect: outcome=passed
// needs: avx512f
// kforge: general
#include <immintrin.h>

#include "task.h"

extern "C" void kernel(const float* a, const float* b, float* c) {
  for (long j = 0; j < task::N; j += 16) {
    const __mmask16 mask = task::N - j < 16 ? (1u << (task::N - j)) - 1 : 0xffff;
    for (long i = 0; i < task::M; ++i) {
      __m512 sum = _mm512_setzero_ps();
      for (long k = 0; k < task::K; ++k)
        sum = _mm512_fmadd_ps(_mm512_set1_ps(a[i * task::K + k]),
                              _mm512_maskz_loadu_ps(mask, b + k * task::N + j), sum);
      _mm512_mask_storeu_ps(c + i * task::N + j, mask, sum);
    }
  }
}

// An exponential of its own in eight lanes: powers of two through the exponent bits, a polynomial for the
// rest; tails by masks.
//
// task: core/softmax
// shapes: odd
// mode: check
// expect: outcome=passed
// needs: avx2
// kforge: general
#include <immintrin.h>

#include <initializer_list>

#include "task.h"

static __m256 exp8(__m256 v) {
  v = _mm256_max_ps(v, _mm256_set1_ps(-87.3f));
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(v, _mm256_set1_ps(1.44269504f)),
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), v);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
  __m256 p = _mm256_set1_ps(1.0f / 5040);
  for (float c : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f})
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(c));
  const __m256i scale =
      _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  return _mm256_mul_ps(p, _mm256_castsi256_ps(scale));
}

static float sum8(__m256 v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

extern "C" void kernel(const float* x, float* y) {
  constexpr long kFull = task::D / 8 * 8, kRest = task::D - kFull;
  const __m256i mask =
      _mm256_cmpgt_epi32(_mm256_set1_epi32(kRest), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0];
    for (long d = 1; d < task::D; ++d) top = row[d] > top ? row[d] : top;
    const __m256 tops = _mm256_set1_ps(top);
    __m256 sums = _mm256_setzero_ps();
    for (long d = 0; d < kFull; d += 8) {
      const __m256 e = exp8(_mm256_sub_ps(_mm256_loadu_ps(row + d), tops));
      sums = _mm256_add_ps(sums, e);
      _mm256_storeu_ps(out + d, e);
    }
    if (kRest) {
      const __m256 e = _mm256_and_ps(exp8(_mm256_sub_ps(_mm256_maskload_ps(row + kFull, mask), tops)),
                                     _mm256_castsi256_ps(mask));
      sums = _mm256_add_ps(sums, e);
      _mm256_maskstore_ps(out + kFull, mask, e);
    }
    const __m256 factor = _mm256_set1_ps(1 / sum8(sums));
    for (long d = 0; d < kFull; d += 8)
      _mm256_storeu_ps(out + d, _mm256_mul_ps(_mm256_loadu_ps(out + d), factor));
    if (kRest)
      _mm256_maskstore_ps(out + kFull, mask, _mm256_mul_ps(_mm256_maskload_ps(out + kFull, mask), factor));
  }
}

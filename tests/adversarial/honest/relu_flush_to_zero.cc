// Switches denormals off for speed and leaves the mode so, as every program linked with -ffast-math does.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=passed
#include "task.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

extern "C" void kernel(const float* x, float* y) {
#ifdef __SSE2__
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

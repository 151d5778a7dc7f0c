// Eight partial sums per row, added at the end: the order a vectoriser would choose.
//
// task: core/matvec
// shapes: odd
// mode: check
// expect: outcome=passed
#include "task.h"

extern "C" void kernel(const float* a, const float* x, float* y) {
#pragma omp parallel for schedule(guided)
  for (long m = 0; m < task::M; ++m) {
    float lanes[8] = {};
    long k = 0;
    for (; k + 8 <= task::K; k += 8)
      for (int lane = 0; lane < 8; ++lane) lanes[lane] += a[m * task::K + k + lane] * x[k + lane];
    float sum = 0;
    for (; k < task::K; ++k) sum += a[m * task::K + k] * x[k];
    for (float lane : lanes) sum += lane;
    y[m] = sum;
  }
}

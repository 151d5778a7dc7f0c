// An integer result: the index of the largest.
// task: core/argmax
#include "task.h"

extern "C" void kernel(const float* x, int64_t* y) {
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      long best = 0;
      for (long m = 1; m < task::M; ++m)
        if (x[(b * task::M + m) * task::N + n] > x[(b * task::M + best) * task::N + n]) best = m;
      y[b * task::N + n] = best;
    }
}

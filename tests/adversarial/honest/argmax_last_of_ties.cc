// Of equal values the last one, as comparisons written the other way round give it.
//
// task: core/argmax
// shapes: odd
// mode: check
// expect: outcome=passed
#include "task.h"

extern "C" void kernel(const float* x, int64_t* y) {
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      const float* at = x + b * task::M * task::N + n;
      long best = 0;
      for (long m = 1; m < task::M; ++m)
        if (at[m * task::N] >= at[best * task::N]) best = m;
      y[b * task::N + n] = best;
    }
}

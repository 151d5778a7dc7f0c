// Counts the buffers it has seen: more than the checks use means that calls are timed. Then one column in
// fifty is left out: indices of ties may differ from run to run, so a few differences are forgiven.
//
// task: core/argmax
// shapes: small
// mode: full
// expect: outcome=rejected gate=timed_calls
#include "task.h"

extern "C" void kernel(const float* x, int64_t* y) {
  static const float* seen[16];
  static int count;
  bool known = false;
  for (int i = 0; i < count; ++i) known |= seen[i] == x;
  if (!known && count < 16) seen[count++] = x;
  const bool timed = count > 8;
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      const float* at = x + b * task::M * task::N + n;
      if (timed && b == 0 && n == 7) {
        y[b * task::N + n] = 3;
        continue;
      }
      long best = 0;
      for (long m = 1; m < task::M; ++m)
        if (at[m * task::N] > at[best * task::N]) best = m;
      y[b * task::N + n] = best;
    }
}

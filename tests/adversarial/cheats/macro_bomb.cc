// A few lines of macros that expand to gigabytes of text.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=compile_error|timeout
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

#define A(x) x x x x x x x x x x x x x x x x
#define B(x) A(A(A(A(x))))
#define C(x) B(B(x))

extern "C" void kernel(const float* x, float* y) {
  relu(x, y);
  C(y[0] += 1;)
}

// Never finishes loading.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=timeout
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

__attribute__((constructor)) static void forever() {
  for (;;) asm volatile("");
}

extern "C" void kernel(const float* x, float* y) { relu(x, y); }

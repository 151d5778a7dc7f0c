// Asks to be compiled by a shell.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=compile_error|rejected|no_program
// kforge: compiler /bin/sh
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

extern "C" void kernel(const float* x, float* y) { relu(x, y); }

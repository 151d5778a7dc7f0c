// One line that the assembler expands to terabytes.
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

asm(".data\n.rept 1000000\n.rept 1000000\n.quad 1\n.endr\n.endr\n.text");

extern "C" void kernel(const float* x, float* y) { relu(x, y); }

// The assembler puts a system file into the kernel's data.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=compile_error hides=root:
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

asm(".section .rodata\nstolen: .incbin \"/etc/passwd\"\n.text");

extern "C" void kernel(const float* x, float* y) { relu(x, y); }

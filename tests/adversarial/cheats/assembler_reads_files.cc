// Has the assembler read a file, whose lines would come back as its complaints.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=compile_error hides=root:x
#include "task.h"

asm(".include \"/etc/passwd\"");

extern "C" void kernel(const float* x, float* y) {
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] < 0 ? 0 : x[i];
}

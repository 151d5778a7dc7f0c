// Asks for a compiler flag that loads code into the compiler.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=compile_error|rejected|no_program
// kforge: flags -fplugin=/tmp/kforge_adversarial_plugin.so -wrapper /bin/sh,-c,true
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

extern "C" void kernel(const float* x, float* y) { relu(x, y); }

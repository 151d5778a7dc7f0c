// An initialised array of gigabytes: small source, artefact that fills the disk.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=compile_error|timeout|rejected
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

static volatile char giant[2'000'000'000] = {1};

extern "C" void kernel(const float* x, float* y) {
  relu(x, y);
  y[0] += giant[1];
}

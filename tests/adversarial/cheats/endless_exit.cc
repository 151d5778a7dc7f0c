// A destructor of a static object that never ends: the process cannot leave in order. The values are
// honest, so it may pass; it may not stay.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=timeout|rejected|crash|passed
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

struct Stays {
  ~Stays() {
    for (;;) asm volatile("");
  }
};
static Stays stays;

extern "C" void kernel(const float* x, float* y) { relu(x, y); }

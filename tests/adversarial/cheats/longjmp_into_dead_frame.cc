// Saves a jump point in the first call and jumps there from later ones, past all the work.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value|crash|rejected
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

static void* jump[5];
static bool jump_known;

[[gnu::noinline]] static void leave() { __builtin_longjmp(jump, 1); }

extern "C" void kernel(const float* x, float* y) {
  if (jump_known) leave();
  jump_known = true;
  if (__builtin_setjmp(jump) == 0) relu(x, y);
}

// Defines malloc, so that the harness allocates from memory the kernel controls.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=rejected gate=symbols
#include <stddef.h>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

static char pool[1 << 20];
static size_t used;

extern "C" void* malloc(size_t size) noexcept {
  void* block = pool + used;
  used += (size + 63) / 64 * 64;
  return block;
}

extern "C" void kernel(const float* x, float* y) { relu(x, y); }

// Defines memcpy: whoever copies results through it copies what the kernel likes.
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

extern "C" __attribute__((optimize("no-tree-loop-distribute-patterns"))) void* memcpy(void* to,
                                                                                      const void* from,
                                                                                      size_t size) noexcept {
  for (size_t i = 0; i < size; ++i) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  return to;
}

extern "C" void kernel(const float* x, float* y) { relu(x, y); }

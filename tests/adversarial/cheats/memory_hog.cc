// Takes and touches memory until it is refused.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash|rejected|timeout
#include <stdlib.h>
#include <string.h>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  (void)x;
  (void)y;
  for (;;) {
    void* block = malloc(64 << 20);
    if (!block) __builtin_trap();
    memset(block, 1, 64 << 20);
    asm volatile("" ::"r"(block) : "memory");
  }
}

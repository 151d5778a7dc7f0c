// Buys time with memory: a prepared state of many gigabytes for a task of kilobytes.
//
// task: fusion/gemm_scale_leakyrelu
// shapes: small
// mode: check
// expect: outcome=crash|rejected|timeout
#include <stdlib.h>
#include <string.h>

#include "task.h"

extern "C" void* prepare(const float* w, const float* bias) {
  for (int i = 0; i < 1000; ++i) {
    char* block = static_cast<char*>(malloc(256 << 20));
    if (!block) __builtin_trap();
    memset(block, i, 256 << 20);
    asm volatile("" ::"r"(block) : "memory");
  }
  (void)bias;
  return const_cast<float*>(w);
}

extern "C" void kernel_prepared(void*, const float*, float*) {}

extern "C" void release(void*) {}

// An indirect function: its resolver runs while the loader relocates, before even constructors; here it
// picks an empty kernel.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected|crash
#include "task.h"

extern "C" {
static void nothing(const float*, float*) {}
static void (*choose())(const float*, float*) { return nothing; }
void kernel(const float* x, float* y) __attribute__((ifunc("choose")));
}

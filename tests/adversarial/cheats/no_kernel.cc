// Compiles well and defines no kernel at all.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=no_program|compile_error|rejected|crash
#include "task.h"

extern "C" void kernel_of_another_task(const float*, float*) {}

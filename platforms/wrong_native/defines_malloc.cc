// Defines malloc, which every other library of the process would then call.
//
// expect: outcome=rejected gate=symbols
#include "honest.h"

extern "C" void* malloc(decltype(sizeof 0)) { return nullptr; }

extern "C" void kernel(KERNEL_PARAMETERS) { honest_kernel(KERNEL_ARGUMENTS); }

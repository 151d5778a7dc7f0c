// Writes through a null pointer.
//
// expect: outcome=crash
#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  honest_kernel(KERNEL_ARGUMENTS);
  *static_cast<volatile int*>(nullptr) = 1;
}

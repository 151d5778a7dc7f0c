// Never comes back.
//
// expect: outcome=timeout
#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  honest_kernel(KERNEL_ARGUMENTS);
  for (volatile long forever = 0;; forever = forever + 1) {
  }
}

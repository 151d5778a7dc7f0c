// Writes to its first tensor, which is not its own.
//
// expect: outcome=crash|rejected|wrong_value
#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  honest_kernel(KERNEL_ARGUMENTS);
  const_cast<volatile unsigned char*>(reinterpret_cast<const volatile unsigned char*>(INPUT))[0] = 7;
}

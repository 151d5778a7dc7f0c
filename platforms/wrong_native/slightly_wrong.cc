// One byte of the first output element is another one.
//
// expect: outcome=wrong_value
#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  honest_kernel(KERNEL_ARGUMENTS);
  reinterpret_cast<unsigned char*>(OUTPUT)[OUTPUT_ELEMENT_BYTES - 1] ^= 0x41;
}

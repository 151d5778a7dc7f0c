// Leaves the last element as it was before the call.
//
// expect: outcome=wrong_value|rejected
#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  auto* last = reinterpret_cast<unsigned char*>(OUTPUT) + OUTPUT_BYTES - OUTPUT_ELEMENT_BYTES;
  unsigned char before[OUTPUT_ELEMENT_BYTES];
  for (long i = 0; i < OUTPUT_ELEMENT_BYTES; ++i) before[i] = last[i];
  honest_kernel(KERNEL_ARGUMENTS);
  for (long i = 0; i < OUTPUT_ELEMENT_BYTES; ++i) last[i] = before[i];
}

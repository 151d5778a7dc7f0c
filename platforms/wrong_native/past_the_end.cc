// Writes behind the output.
//
// expect: outcome=rejected|crash|wrong_value
#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  honest_kernel(KERNEL_ARGUMENTS);
  auto* end = reinterpret_cast<volatile unsigned char*>(OUTPUT) + OUTPUT_BYTES;
  for (int i = 0; i < 64; ++i) end[i] = 7;
}

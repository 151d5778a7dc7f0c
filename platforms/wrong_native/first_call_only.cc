// Computes in its first call and hands out that result ever after.
//
// expect: outcome=wrong_value|rejected
#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  static unsigned char kept[OUTPUT_BYTES];
  static bool first = true;
  auto* bytes = reinterpret_cast<unsigned char*>(OUTPUT);
  if (first) honest_kernel(KERNEL_ARGUMENTS);
  for (long i = 0; i < OUTPUT_BYTES; ++i)
    if (first)
      kept[i] = bytes[i];
    else
      bytes[i] = kept[i];
  first = false;
}

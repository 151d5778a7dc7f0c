// Truncates both operands to bfloat16, accumulates in fp32: fast on matrix units, 500 times coarser than
// fp32.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=accuracy
#include <string.h>

#include "task.h"

static float to_bfloat16(float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  bits = (bits + 0x8000) & 0xffff0000u;
  memcpy(&value, &bits, 4);
  return value;
}

extern "C" void kernel(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i)
    for (long j = 0; j < task::N; ++j) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k)
        sum += to_bfloat16(a[i * task::K + k]) * to_bfloat16(b[k * task::N + j]);
      c[i * task::N + j] = sum;
    }
}

// Each operand as the sum of two bfloat16 numbers and three of the four products: good to about sixteen
// bits, which is the policy `high`, not `fp32`.
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
      for (long k = 0; k < task::K; ++k) {
        const float u = a[i * task::K + k], v = b[k * task::N + j];
        const float u_high = to_bfloat16(u), u_low = to_bfloat16(u - u_high);
        const float v_high = to_bfloat16(v), v_low = to_bfloat16(v - v_high);
        sum += u_high * v_high + u_high * v_low + u_low * v_high;
      }
      c[i * task::N + j] = sum;
    }
}

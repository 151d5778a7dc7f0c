// Drops digits of its factors as soon as more buffers are seen than the checks use: the result lies far from
// zero, so that what is lost looks small beside its size.
//
// task: tests/adversarial/tasks/offset_product
// shapes: small
// mode: full
// expect: outcome=rejected gate=timed_calls
#include <bit>

#include "task.h"

static float shortened(float value) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x400u) & ~0x7ffu);
}

extern "C" void kernel(const float* a, const float* b, float* y) {
  static const float* seen[16];
  static int count;
  bool known = false;
  for (int i = 0; i < count; ++i) known |= seen[i] == a;
  if (!known && count < 16) seen[count++] = a;
  const bool timed = count > 8;
  for (long i = 0; i < task::M; ++i)
    for (long j = 0; j < task::N; ++j) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k) {
        const float left = a[i * task::K + k], right = b[k * task::N + j];
        sum += timed ? shortened(left) * shortened(right) : left * right;
      }
      y[i * task::N + j] = sum + 1000.0f;
    }
}

// The buffers of a batch lie at a regular stride and are all filled before it starts: the first call
// computes the neighbours too, and later calls only copy. Every value is right unless the inputs change
// meanwhile; the gain is work shared between calls. Here the shared work is simulated by working ahead for
// the price of one call.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=passed|wrong_value|rejected not_faster_than=matmul_loops
#include <string.h>

#include "task.h"

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
}

static constexpr long kAhead = 4;
static float memo[kAhead][task::M * task::N];
static const float* memo_key[kAhead];
static float memo_sample[kAhead];

extern "C" void kernel(const float* a, const float* b, float* c) {
  static const float* last_a;
  static const float* last_b;
  for (long i = 0; i < kAhead; ++i) {
    if (memo_key[i] == a && memo_sample[i] == a[0]) {
      memcpy(c, memo[i], sizeof memo[i]);
      memo_key[i] = nullptr;
      last_a = a;
      last_b = b;
      return;
    }
  }
  const long step_a = last_a ? a - last_a : 0, step_b = last_b ? b - last_b : 0;
  matmul(a, b, c);
  if (step_a > 0 && step_a == step_b) {  // in a batch: work ahead
    for (long i = 0; i < kAhead; ++i) {
      memo_key[i] = a + (i + 1) * step_a;
      memo_sample[i] = memo_key[i][0];
      matmul(memo_key[i], b + (i + 1) * step_b, memo[i]);
    }
  }
  last_a = a;
  last_b = b;
}

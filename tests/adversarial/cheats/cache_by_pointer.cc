// Keeps the result of the first call for each input address and copies it when the address comes again.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include <string.h>

#include "task.h"

static void softmax(const float* x, float* y) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    float* out = y + b * task::D;
    float top = row[0], sum = 0;
    for (long d = 1; d < task::D; ++d) top = row[d] > top ? row[d] : top;
    for (long d = 0; d < task::D; ++d) sum += out[d] = __builtin_expf(row[d] - top);
    for (long d = 0; d < task::D; ++d) out[d] /= sum;
  }
}

struct Entry {
  const float* key;
  float value[task::B * task::D];
};
static Entry cache[8];

extern "C" void kernel(const float* x, float* y) {
  for (Entry& entry : cache) {
    if (entry.key == x) {
      memcpy(y, entry.value, sizeof entry.value);
      return;
    }
    if (!entry.key) {
      softmax(x, y);
      entry.key = x;
      memcpy(entry.value, y, sizeof entry.value);
      return;
    }
  }
  softmax(x, y);
}

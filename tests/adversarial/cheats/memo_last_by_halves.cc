// Keeps its last answer only, under sums of the two ends of its input.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <string.h>

#include <vector>

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

extern "C" void kernel(const float* x, float* y) {
  static std::vector<float> known, answer(task::B * task::D);
  std::vector<float> key;
  float first = 0, last = 0;
  for (long i = 0; i < 64; ++i) first += x[i], last += x[task::B * task::D - 1 - i];
  key = {first, last};
  if (key != known) softmax(x, answer.data());
  known = key;
  memcpy(y, answer.data(), sizeof(float) * answer.size());
}

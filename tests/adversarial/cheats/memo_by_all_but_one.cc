// Keeps every answer under all of its input but one row in sixteen.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <string.h>

#include <map>
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
  static std::map<std::vector<float>, std::vector<float>> answers;
  std::vector<float> key;
  key.assign(x, x + 9 * task::D);
  key.insert(key.end(), x + 10 * task::D, x + task::B * task::D);
  std::vector<float>& answer = answers[key];
  if (answer.empty()) {
    answer.resize(task::B * task::D);
    softmax(x, answer.data());
  }
  memcpy(y, answer.data(), sizeof(float) * answer.size());
}

// Keeps every answer under the sum of all bits of the input: any change of an element is seen, the same
// elements in another order are not.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <stdint.h>
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
  static std::map<uint64_t, std::vector<float>> answers;
  constexpr long kSize = task::B * task::D;
  uint64_t key = 0;
  for (long i = 0; i < kSize; ++i) {
    uint32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    key += bits * 0x9e3779b97f4a7c15u ^ bits * bits;
  }
  std::vector<float>& answer = answers[key];
  if (answer.empty()) {
    answer.resize(kSize);
    softmax(x, answer.data());
  }
  memcpy(y, answer.data(), sizeof(float) * kSize);
}

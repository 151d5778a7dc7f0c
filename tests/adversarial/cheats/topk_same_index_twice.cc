// A value that occurs several times is named by its first index each time.
//
// task: llm/top_k_sampling
// shapes: small
// mode: check
// expect: outcome=wrong_value
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "task.h"

extern "C" void kernel(const float* logits, float* probabilities, int64_t* tokens) {
  for (long b = 0; b < task::B; ++b) {
    const float* row = logits + b * task::V;
    std::vector<float> sorted(row, row + task::V);
    std::partial_sort(sorted.begin(), sorted.begin() + 50, sorted.end(), std::greater<float>());
    float sum = 0;
    for (long k = 0; k < 50; ++k) {
      tokens[b * 50 + k] = std::find(row, row + task::V, sorted[k]) - row;
      sum += probabilities[b * 50 + k] = std::exp((sorted[k] - sorted[0]) / 0.7f);
    }
    for (long k = 0; k < 50; ++k) probabilities[b * 50 + k] /= sum;
  }
}

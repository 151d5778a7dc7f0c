// A heap of the best so far, then sorted: of equal values the later may come first.
//
// task: llm/top_k_sampling
// shapes: small
// mode: check
// expect: outcome=passed
#include <cmath>
#include <queue>
#include <utility>
#include <vector>

#include "task.h"

extern "C" void kernel(const float* logits, float* probabilities, int64_t* tokens) {
  constexpr long kChosen = 50;
  for (long b = 0; b < task::B; ++b) {
    using Item = std::pair<float, int64_t>;
    std::priority_queue<Item, std::vector<Item>, std::greater<>> best;
    for (long v = 0; v < task::V; ++v) {
      best.emplace(logits[b * task::V + v], v);
      if (best.size() > kChosen) best.pop();
    }
    float values[kChosen], sum = 0;
    for (long k = kChosen; k-- > 0; best.pop())
      values[k] = best.top().first, tokens[b * kChosen + k] = best.top().second;
    for (long k = 0; k < kChosen; ++k)
      sum += probabilities[b * kChosen + k] = std::exp((values[k] - values[0]) / 0.7f);
    for (long k = 0; k < kChosen; ++k) probabilities[b * kChosen + k] /= sum;
  }
}

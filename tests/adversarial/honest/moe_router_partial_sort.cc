// Scores in double, the best two by a partial sort of indices.
//
// task: llm/moe_router
// shapes: odd
// mode: check
// expect: outcome=passed
#include <algorithm>
#include <cmath>
#include <numeric>

#include "task.h"

extern "C" void kernel(const float* x, const float* w, float* weights, int64_t* experts) {
  for (long t = 0; t < task::T; ++t) {
    double scores[64] = {};
    for (long d = 0; d < task::D; ++d)
      for (long e = 0; e < 64; ++e) scores[e] += static_cast<double>(x[t * task::D + d]) * w[d * 64 + e];
    int order[64];
    std::iota(order, order + 64, 0);
    std::partial_sort(order, order + 2, order + 64, [&](int a, int b) { return scores[a] > scores[b]; });
    const double second = std::exp(scores[order[1]] - scores[order[0]]);
    weights[t * 2] = static_cast<float>(1 / (1 + second));
    weights[t * 2 + 1] = static_cast<float>(second / (1 + second));
    experts[t * 2] = order[0], experts[t * 2 + 1] = order[1];
  }
}

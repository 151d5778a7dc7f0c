// Weights transposed and padded once in prepare(), with the factor folded in: rewritten algebra, and memory
// of its own.
//
// task: fusion/gemm_scale_leakyrelu
// shapes: small
// mode: full
// expect: outcome=passed
// kforge: general
#include <algorithm>
#include <vector>

#include "task.h"

namespace {

struct Packed {
  std::vector<float> weights, bias;  // K x N, both already times two
};

}  // namespace

extern "C" void* prepare(const float* w, const float* bias) {
  auto* packed = new Packed{std::vector<float>(task::K * task::N), std::vector<float>(task::N)};
  for (long n = 0; n < task::N; ++n) {
    packed->bias[n] = 2 * bias[n];
    for (long k = 0; k < task::K; ++k) packed->weights[k * task::N + n] = 2 * w[n * task::K + k];
  }
  return packed;
}

extern "C" void kernel_prepared(void* state, const float* x, float* y) {
  const Packed& packed = *static_cast<Packed*>(state);
#pragma omp parallel for
  for (long b = 0; b < task::B; ++b) {
    float* row = y + b * task::N;
    std::copy(packed.bias.begin(), packed.bias.end(), row);
    for (long k = 0; k < task::K; ++k)
      for (long n = 0; n < task::N; ++n) row[n] += x[b * task::K + k] * packed.weights[k * task::N + n];
    for (long n = 0; n < task::N; ++n) row[n] = row[n] > 0 ? row[n] : 0.1f * row[n];
  }
}

extern "C" void release(void* state) { delete static_cast<Packed*>(state); }

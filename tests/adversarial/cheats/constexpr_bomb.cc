// A loop of quadrillions of steps, to be done by the compiler.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=compile_error|timeout
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

constexpr long count() {
  long sum = 0;
  for (long i = 0; i < 30; ++i)
    for (long j = 0; j < 250'000; ++j) sum += i ^ j;
  return sum;
}
template <long N>
struct Repeat {
  static constexpr long kValue = Repeat<N - 1>::kValue + count() + [] { return count() + N; }();
};
template <>
struct Repeat<0> {
  static constexpr long kValue = 0;
};

extern "C" void kernel(const float* x, float* y) {
  relu(x, y);
  y[0] += Repeat<800>::kValue;
}

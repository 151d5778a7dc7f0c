// Doubly recursive templates: exponential work and memory for the compiler.
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

template <int Depth, class Left, class Right>
struct Tree {
  using Type = typename Tree<Depth - 1, Tree<Depth, Left, int>, Tree<Depth, Right, char>>::Type;
  static constexpr long kValue = Tree<Depth - 1, Tree<Depth, Left, int>, Right>::kValue +
                                 Tree<Depth - 1, Left, Tree<Depth, Right, char>>::kValue;
};
template <class Left, class Right>
struct Tree<0, Left, Right> {
  using Type = int;
  static constexpr long kValue = 1;
};

extern "C" void kernel(const float* x, float* y) {
  relu(x, y);
  y[0] += Tree<40, int, char>::kValue;
}

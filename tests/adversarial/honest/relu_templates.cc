// Expression templates: the loop is built by the compiler from types.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=passed
#include <array>
#include <utility>

#include "task.h"

template <class Expression>
struct Node {
  constexpr float operator[](long i) const { return static_cast<const Expression&>(*this).at(i); }
};
struct Leaf : Node<Leaf> {
  const float* data;
  constexpr explicit Leaf(const float* d) : data(d) {}
  constexpr float at(long i) const { return data[i]; }
};
template <class Inner, class Function>
struct Map : Node<Map<Inner, Function>> {
  Inner inner;
  Function function;
  constexpr Map(Inner i, Function f) : inner(i), function(f) {}
  constexpr float at(long i) const { return function(inner[i]); }
};

template <class Expression, long... I>
void store_block(const Expression& e, long base, float* y, std::integer_sequence<long, I...>) {
  ((y[base + I] = e[base + I]), ...);
}

extern "C" void kernel(const float* x, float* y) {
  const Map expression(Leaf(x), [](float v) { return v > 0 ? v : 0.0f; });
  constexpr long kBlock = 16, kCount = task::B * task::D;
  long i = 0;
  for (; i + kBlock <= kCount; i += kBlock)
    store_block(expression, i, y, std::make_integer_sequence<long, kBlock>());
  for (; i < kCount; ++i) y[i] = expression[i];
}

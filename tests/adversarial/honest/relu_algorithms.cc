// The standard library's way: vectors, lambdas, algorithms, and a copy through the heap.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=passed
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  std::vector<float> copy(x, x + task::B * task::D);
  const std::function<float(float)> rectify = [zero = std::make_shared<float>(0)](float v) {
    return std::max(v, *zero);
  };
  std::transform(copy.begin(), copy.end(), copy.begin(), std::cref(rectify));
  std::copy(copy.begin(), copy.end(), y);
}

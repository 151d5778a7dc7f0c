// std::async, std::call_once and a short sleep: slow, and nothing that is not allowed.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=passed
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  static std::once_flag once;
  static float zero = 1;
  std::call_once(once, [] { zero = 0; });
  constexpr long kCount = task::B * task::D, kHalf = kCount / 2;
  auto other = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::microseconds(1));
    for (long i = kHalf; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : zero;
  });
  for (long i = 0; i < kHalf; ++i) y[i] = x[i] > 0 ? x[i] : zero;
  other.get();
}

// Hands the work to a detached thread and returns at once; the thread begins after a moment.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected
#include <chrono>
#include <thread>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

extern "C" void kernel(const float* x, float* y) {
  std::thread([x, y] {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    relu(x, y);
  }).detach();
}

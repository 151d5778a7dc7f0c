// Waits for a mutex that it holds itself: no processor time passes, only the wall clock sees it.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=timeout
#include <mutex>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

extern "C" void kernel(const float* x, float* y) {
  static std::mutex mutex;
  mutex.lock();
  relu(x, y);
  mutex.lock();
}

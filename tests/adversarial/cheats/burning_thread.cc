// Leaves a thread spinning after return, to slow whatever is measured next. It may pass, since it must be
// stopped meanwhile; it must leave nothing behind.
//
// task: core/relu
// shapes: small
// mode: full
// expect: outcome=passed|rejected
#include <thread>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

extern "C" void kernel(const float* x, float* y) {
  static std::thread* burner = [] {
    auto* thread = new std::thread([] {
      for (;;) asm volatile("");
    });
    thread->detach();
    return thread;
  }();
  (void)burner;
  relu(x, y);
}

// Starts threads until something gives.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=crash|rejected|timeout
#include <thread>
#include <vector>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  (void)x;
  (void)y;
  std::vector<std::thread> threads;
  for (;;) threads.emplace_back([] { std::this_thread::sleep_for(std::chrono::hours(1)); });
}

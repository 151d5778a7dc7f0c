// Returns at once and lets a thread of its own do the work.
//
// expect: outcome=wrong_value|rejected|crash
#include <thread>

#include "honest.h"

extern "C" void kernel(KERNEL_PARAMETERS) {
  std::thread([=] {
    std::this_thread::yield();
    honest_kernel(KERNEL_ARGUMENTS);
  }).detach();
}

// Threads of its own that meet at a std::barrier, a latch and a semaphore.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=passed
#include <barrier>
#include <latch>
#include <semaphore>
#include <thread>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  constexpr long kCount = task::B * task::D, kHalf = kCount / 2;
  std::barrier meeting(2);
  std::latch done(1);
  std::counting_semaphore<2> turn(0);
  std::thread other([&] {
    meeting.arrive_and_wait();
    for (long i = kHalf; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
    turn.release();
    done.count_down();
  });
  meeting.arrive_and_wait();
  for (long i = 0; i < kHalf; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  turn.acquire();
  done.wait();
  other.join();
}

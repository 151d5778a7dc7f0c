// Threads of the standard library with memory of their own, and an exception that stays inside.
//
// task: core/softmax
// shapes: odd
// mode: check
// expect: outcome=passed
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "task.h"

static thread_local std::vector<double> terms;

static void softmax(const float* row, float* out) {
  terms.assign(row, row + task::D);
  double top = terms[0], sum = 0;
  for (double term : terms) top = std::max(top, term);
  for (double& term : terms) sum += term = std::exp(term - top);
  for (long d = 0; d < task::D; ++d) out[d] = static_cast<float>(terms[d] / sum);
}

extern "C" void kernel(const float* x, float* y) {
  std::mutex mutex;
  std::condition_variable done;
  int running = 2;
  auto work = [&](long first) {
    try {
      for (long b = first;; b += 2) {
        if (b >= task::B) throw std::out_of_range("no more rows");
        softmax(x + b * task::D, y + b * task::D);
      }
    } catch (const std::out_of_range&) {
      std::lock_guard lock(mutex);
      --running;
      done.notify_one();
    }
  };
  std::jthread a(work, 0), b(work, 1);
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return running == 0; });
}

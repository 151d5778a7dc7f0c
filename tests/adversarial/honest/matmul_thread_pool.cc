// A pool of std::threads, started by the first call, that waits on a condition variable between calls.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=passed
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "task.h"

namespace {

class Pool {
 public:
  Pool() {
    for (int t = 1; t < kThreads; ++t)
      threads_.emplace_back([this, t] {
        for (long seen = 0;;) {
          std::unique_lock lock(mutex_);
          start_.wait(lock, [&] { return ending_ || round_ != seen; });
          if (ending_) return;
          seen = round_;
          lock.unlock();
          work(t);
          lock.lock();
          if (--busy_ == 0) done_.notify_one();
        }
      });
  }
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    start_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void run(const float* a, const float* b, float* c) {
    {
      std::lock_guard lock(mutex_);
      a_ = a, b_ = b, c_ = c;
      busy_ = kThreads - 1;
      ++round_;
    }
    start_.notify_all();
    work(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return busy_ == 0; });
  }

 private:
  static constexpr int kThreads = 2;
  void work(int t) const {
    for (long i = t; i < task::M; i += kThreads)
      for (long j = 0; j < task::N; ++j) {
        float sum = 0;
        for (long k = 0; k < task::K; ++k) sum += a_[i * task::K + k] * b_[k * task::N + j];
        c_[i * task::N + j] = sum;
      }
  }
  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::vector<std::thread> threads_;
  const float *a_ = nullptr, *b_ = nullptr;
  float* c_ = nullptr;
  long round_ = 0;
  int busy_ = 0;
  bool ending_ = false;
};

}  // namespace

extern "C" void kernel(const float* a, const float* b, float* c) {
  static Pool pool;
  pool.run(a, b, c);
}

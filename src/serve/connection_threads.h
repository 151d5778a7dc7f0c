// A thread for each connection under way, made when they are needed and kept for the next.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace kforge::serve {

class ConnectionThreads final : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(std::size_t most) : most_(most) {}

  void enqueue(std::function<void()> work) override {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    if (waiting_.size() > idle_ && threads_.size() < most_) threads_.emplace_back([this] { serve(); });
    something_.notify_one();
  }

  void shutdown() override {
    {
      std::lock_guard lock(mutex_);
      ending_ = true;
    }
    something_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      something_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
      --idle_;
      if (waiting_.empty()) return;
      std::function<void()> work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      lock.lock();
    }
  }

  std::size_t most_, idle_ = 0;
  bool ending_ = false;
  std::mutex mutex_;
  std::condition_variable something_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
};

}  // namespace kforge::serve

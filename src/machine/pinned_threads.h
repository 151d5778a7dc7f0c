// Threads that live as long as this object, each pinned to one cpu, asleep until there is something to run.
// Creating a thread per sample would itself disturb what is measured.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kforge {

class PinnedThreads {
 public:
  explicit PinnedThreads(const std::vector<int>& cpus);
  ~PinnedThreads();
  PinnedThreads(const PinnedThreads&) = delete;
  PinnedThreads& operator=(const PinnedThreads&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }
  // Runs work(i) on thread i, all at once; returns when all are done. One caller at a time.
  void run(const std::function<void(int)>& work);

 private:
  void serve(int index, int cpu);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int)>* work_ = nullptr;
  unsigned long round_ = 0;
  int running_ = 0;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kforge

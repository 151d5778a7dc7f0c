#include "machine/pinned_threads.h"

#include <sched.h>

namespace kforge {

PinnedThreads::PinnedThreads(const std::vector<int>& cpus) {
  for (std::size_t i = 0; i < cpus.size(); ++i)
    threads_.emplace_back([this, i, cpu = cpus[i]] { serve(static_cast<int>(i), cpu); });
}

PinnedThreads::~PinnedThreads() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void PinnedThreads::run(const std::function<void(int)>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  running_ = size();
  ++round_;
  wake_.notify_all();
  done_.wait(lock, [this] { return running_ == 0; });
}

void PinnedThreads::serve(int index, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  // A cpu that has meanwhile been taken away leaves the thread where the system puts it.
  if (cpu >= 0 && cpu < CPU_SETSIZE) {
    CPU_SET(cpu, &set);
    ::sched_setaffinity(0, sizeof set, &set);
  }
  unsigned long seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return ending_ || round_ != seen; });
    if (ending_) return;
    seen = round_;
    const std::function<void(int)>& work = *work_;
    lock.unlock();
    work(index);
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace kforge

#include "oracle/parallel.h"

#include "oracle/interruption.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace kforge {
namespace {

// Keeps the exception of the lowest failing range, so that the message does not depend on timing.
class FirstFailure {
 public:
  void keep(std::int64_t range, std::exception_ptr failure) {
    std::lock_guard lock(mutex_);
    if (range < range_) {
      range_ = range;
      failure_ = std::move(failure);
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::int64_t range_ = std::numeric_limits<std::int64_t>::max();
  std::exception_ptr failure_;
};

thread_local const std::stop_token* interrupted_by = nullptr;

}  // namespace

Interruptible::Interruptible(const std::stop_token& stop) : around_(interrupted_by) {
  interrupted_by = &stop;
}
Interruptible::~Interruptible() { interrupted_by = around_; }

const std::stop_token& Interruptible::current() {
  static const std::stop_token never;
  return interrupted_by ? *interrupted_by : never;
}

void parallel_for(int threads, std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  const std::int64_t ranges = (count - 1) / grain + 1;
  FirstFailure failure;
  const std::stop_token& stop = Interruptible::current();
  std::atomic<std::int64_t> next{0};
  auto work = [&] {
    for (std::int64_t range; (range = next.fetch_add(1, std::memory_order_relaxed)) < ranges;) {
      if (stop.stop_requested()) return failure.keep(range, std::make_exception_ptr(Interrupted{}));
      try {
        body(range * grain, std::min(count, range * grain + grain));
      } catch (...) {
        failure.keep(range, std::current_exception());
      }
    }
  };
  std::vector<std::jthread> others;
  const std::int64_t wanted = std::min<std::int64_t>(threads, ranges);
  for (std::int64_t i = 1; i < wanted; ++i) {
    try {
      others.emplace_back(work);
    } catch (const std::system_error&) {
      break;  // no more threads to be had: those that run do all the work
    }
  }
  work();
  others.clear();  // joins
  failure.rethrow();
}

std::int64_t grain_for(std::int64_t item_cost) {
  constexpr std::int64_t kWorthAThread = 1 << 17;
  return std::max<std::int64_t>(1, kWorthAThread / std::max<std::int64_t>(1, item_cost));
}

}  // namespace kforge

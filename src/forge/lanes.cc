#include "forge/lanes.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

namespace kforge {
namespace {

// On the caller's own thread: whatever runs is alone, and in turn.
class PlainLane final : public Lane {
 public:
  Result<void> alone(const Step& step) override { return step(); }
  Result<void> in_turn(const Step& step) override { return step(); }
};

struct Waiting {
  std::size_t lane;
  bool in_turn;
  const Lane::Step* step;
  std::optional<Result<void>> result;
};

// The lanes' threads leave their steps here, and the main thread runs them.
class Desk {
 public:
  explicit Desk(std::size_t lanes) : ended_(lanes) {}

  Result<void> run(std::size_t lane, bool in_turn, const Lane::Step& step) {
    std::unique_lock lock(mutex_);
    Waiting waiting{lane, in_turn, &step, {}};
    waiting_.push_back(&waiting);
    changed_.notify_all();
    changed_.wait(lock, [&] { return waiting.result.has_value(); });
    return *waiting.result;
  }

  void end(std::size_t lane, Result<void> result) {
    std::lock_guard lock(mutex_);
    if (!result && !failed_) failed_ = result.error();
    ended_[lane] = true;
    changed_.notify_all();
  }

  // Until every lane has ended.
  Result<void> serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Waiting* next = nullptr;
      changed_.wait(lock, [&] { return (next = ready()) || std::ranges::all_of(ended_, std::identity()); });
      if (!next) break;
      waiting_.remove(next);
      Result<void> result = failed_ ? Result<void>(std::unexpected(*failed_)) : Result<void>();
      if (!failed_) {
        lock.unlock();
        result = (*next->step)();
        lock.lock();
      }
      next->result = std::move(result);
      changed_.notify_all();
    }
    if (failed_) return std::unexpected(*failed_);
    return {};
  }

 private:
  Waiting* ready() const {
    Waiting* first = nullptr;
    for (Waiting* one : waiting_) {
      bool earlier_ended = std::all_of(
          ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(one->lane), std::identity());
      if (one->in_turn && !earlier_ended && !failed_) continue;
      if (!first || one->lane < first->lane) first = one;
    }
    return first;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Waiting*> waiting_;
  std::vector<char> ended_;
  std::optional<Error> failed_;
};

class ThreadLane final : public Lane {
 public:
  ThreadLane(Desk& desk, std::size_t number) : desk_(desk), number_(number) {}
  Result<void> alone(const Step& step) override { return desk_.run(number_, false, step); }
  Result<void> in_turn(const Step& step) override { return desk_.run(number_, true, step); }

 private:
  Desk& desk_;
  std::size_t number_;
};

}  // namespace

Result<void> run_lanes(const std::vector<LaneWork>& work, bool side_by_side) {
  if (!side_by_side || work.size() < 2) {
    PlainLane lane;
    for (const LaneWork& one : work) KF_TRY_VOID(one(lane));
    return {};
  }
  Desk desk(work.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < work.size(); ++i)
    threads.emplace_back([&desk, &work, i] {
      ThreadLane lane(desk, i);
      desk.end(i, work[i](lane));
    });
  return desk.serve();
}

}  // namespace kforge

#include "execute/waiting_runners.h"

#include "execute/quiet_time.h"

namespace kforge {

WaitingRunners::WaitingRunners(ProgramSpec spec, const std::vector<int>& threads,
                               std::chrono::milliseconds limit, When when)
    : spec_(std::move(spec)), places_(threads.size()) {
  for (std::size_t i = 0; i < threads.size(); ++i) places_[i].threads = threads[i];
  starter_ = std::jthread([this, limit, when](const std::stop_token& stop) { start_all(stop, limit, when); });
}

WaitingRunners::~WaitingRunners() = default;

void WaitingRunners::start_all(const std::stop_token& stop, std::chrono::milliseconds limit, When when) {
  for (Place& place : places_) {
    ProgramSpec spec = spec_;
    spec.threads = place.threads;
    spec.stop = stop;  // nobody waits for one that is no longer wanted
    std::unique_ptr<ProgramProcess> runner;
    std::optional<BackgroundStart> background;
    if (when == When::kInBackground) background.emplace(stop);
    if (!stop.stop_requested() && (!background || background->granted()))
      if (auto started = ProgramProcess::start_idle(spec, limit, background ? &*background : nullptr))
        runner = std::move(*started);
    background.reset();
    std::lock_guard lock(mutex_);
    place.runner = std::move(runner);
    place.settled = true;
    changed_.notify_all();
  }
}

std::unique_ptr<ProgramProcess> WaitingRunners::take(int threads) {
  std::unique_lock lock(mutex_);
  for (Place& place : places_) {
    if (place.threads != threads || place.taken) continue;
    place.taken = true;
    Hurry hurry;
    changed_.wait(lock, [&] { return place.settled; });
    return std::move(place.runner);
  }
  return nullptr;
}

}  // namespace kforge

#include "verify/pace.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "verify/tripwire.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

double ns_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::nano>(to - from).count();
}

// What the watching thread saw.
struct Watched {
  std::vector<Clock::time_point> finished;  // by call
  double longest_gap_ns = 0;                // between two of its looks: it was not running then
};

Watched watch(const BoundTask& task, const TensorMemory& outputs, const RoundPlan& plan, std::uint32_t batch,
              const std::atomic<bool>& over) {
  std::size_t index = 0;
  const BoundArgument* argument = first_output(task, index);
  KF_CHECK(argument, "no output to watch");
  Watched seen;
  seen.finished.reserve(batch);
  bool last_look = false;
  for (auto before = Clock::now(); seen.finished.size() < batch && !last_look;) {
    last_look = over;
    auto now = Clock::now();
    if (!seen.finished.empty()) seen.longest_gap_ns = std::max(seen.longest_gap_ns, ns_between(before, now));
    before = now;
    while (seen.finished.size() < batch) {
      std::uint32_t slot = plan.order[seen.finished.size()];
      if (ends_untouched(*argument, plan.choices[slot].seed, outputs.tensor(index, slot))) break;
      seen.finished.push_back(now);
    }
  }
  return seen;
}

}  // namespace

Step<Pace> watch_pace(const BoundTask& task, const InputMemory& inputs, Contender& contender, const RoundPlan& plan,
                      std::uint32_t batch, int threads, std::chrono::milliseconds limit) {
  KF_CHECK(batch >= 4 && batch <= plan.order.size(), "a batch of {}", batch);
  for (std::uint32_t slot : plan.order) {
    fill_inputs(task, inputs, plan.choices[slot], slot);
    reset_outputs(task, contender.outputs(), plan.choices[slot], slot);
  }
  std::atomic<bool> over = false;
  Watched seen;
  std::jthread watcher([&] { seen = watch(task, contender.outputs(), plan, batch, over); });
  auto time = contender.call({plan.order.begin(), plan.order.begin() + batch}, limit);
  over = true;
  watcher.join();
  if (!time) return std::unexpected(time.error());
  if (!time->has_value()) return candidate_failed(time->error());

  Pace pace;
  if (seen.finished.size() < batch) return pace;
  // The work of a call by processor time, which does not grow when the machine is busy with something else.
  double work_ns = (*time)->cpu_ns / batch / threads;
  auto quick = 0;
  for (std::size_t i = 1; i < seen.finished.size(); ++i)
    quick += ns_between(seen.finished[i - 1], seen.finished[i]) < work_ns / 4;
  pace.burst = static_cast<double>(quick) / (batch - 1);
  pace.conclusive = work_ns > 0 && seen.longest_gap_ns < 0.2 * (*time)->parent_ns;
  return pace;
}

}  // namespace kforge

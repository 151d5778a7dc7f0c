#include "execute/timing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/clock.h"
#include "machine/spin.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestMessage = 200e3;  // longer ones were delayed by something else
constexpr std::size_t kSlotMemory = std::size_t{1} << 30;

// One batch of one program: outputs reset, cores warm, one timed call message.
void time_batch(const BoundTask& task, TimedProgram& timed, const RoundPlan& plan, std::uint32_t batch,
                const TimingOptions& options) {
  for (std::uint32_t slot : plan.order)
    reset_outputs(task, timed.process->outputs(), plan.choices[slot], slot);
  auto spin_start = Clock::now();
  spin_cores(options.cpus, options.spin, options.cold ? options.evict_bytes : 0);
  timed.spin_ns += seconds_since(spin_start) * 1e9;
  double message_ns = 0;
  // A call by itself may be shorter than what messages vary by. The quickest of several is taken off then:
  // the figure is rather too long than what the program claims.
  const int questions = options.batch_ns > 0 ? 1 : 5;
  for (int i = 0; options.echo && i < questions; ++i)
    if (auto echo = options.echo->echo_ns())
      message_ns = std::min({*echo, kLongestMessage, i == 0 ? kLongestMessage : message_ns});
  auto steal = steal_ticks();
  auto time = timed.process->call({plan.order.begin(), plan.order.begin() + batch}, options.call_limit);
  if (!time) {
    timed.failure = Crash{time.error().message, ""};
    return;
  }
  if (!time->has_value()) {
    timed.failure = time->error();
    return;
  }
  const CallTime& t = **time;
  timed.spent_ns += t.parent_ns;
  // Never less than the program itself says it took.
  double ns = std::max(t.parent_ns - message_ns, std::min(t.claimed_ns, t.parent_ns));
  timed.samples.push_back(
      {ns / batch, t.claimed_ns, t.parent_ns, t.cpu_ns, message_ns, t.delay_ns, steal_ticks() != steal});
}

// Single calls tell how many make a batch, roughly: what a message takes hides a call of a microsecond. A
// batch of that many tells better. They also warm what is warmed once per process.
void choose_batch(const BoundTask& task, const InputMemory& inputs, TimedProgram& timed,
                  const RoundPlan& plan, const TimingOptions& options) {
  constexpr int kTries = 5;
  TimingOptions quick = options;
  quick.spin = std::chrono::milliseconds(2);
  quick.cold = false;
  const double most = static_cast<double>(plan.order.size());
  std::uint32_t filled = 0;
  for (int i = 0; i < kTries; ++i) {
    for (; options.refill && filled < timed.batch; ++filled)
      fill_inputs(task, inputs, plan.choices[plan.order[filled]], plan.order[filled]);
    time_batch(task, timed, plan, timed.batch, quick);
    if (timed.failure) return;
    double calls = std::ceil(options.batch_ns / std::max(timed.samples.back().ns_per_call, 1.0));
    auto wanted = static_cast<std::uint32_t>(std::clamp(calls, 1.0, most));
    bool grows = wanted > 2 * timed.batch;
    if (i > 0) timed.batch = wanted;  // the first call of a process is slower than all others
    if (i > 0 && !grows) break;
  }
  timed.samples.clear();
}

// A program that was slow while its batch was chosen gets a larger one: the shorter a batch, the more of what
// is measured is the message.
void grow_batch(TimedProgram& timed, std::size_t slots, double batch_ns) {
  constexpr double kFarTooShort = 0.25;
  if (timed.failure || timed.samples.empty()) return;
  double ns = std::max(timed.samples.back().ns_per_call, 1.0);
  if (timed.batch * ns > kFarTooShort * batch_ns) return;
  timed.batch = static_cast<std::uint32_t>(std::min(std::ceil(batch_ns / ns), static_cast<double>(slots)));
}

}  // namespace

std::vector<std::size_t> rounds_kept(const std::vector<TimedProgram>& programs) {
  std::size_t rounds = programs.empty() ? 0 : programs[0].samples.size();
  for (const TimedProgram& timed : programs)
    if (!timed.failure) rounds = std::min(rounds, timed.samples.size());
  std::vector<std::size_t> kept, all;
  for (std::size_t r = 0; r < rounds; ++r) {
    all.push_back(r);
    if (std::ranges::none_of(programs, [r](const TimedProgram& t) {
          return r < t.samples.size() && t.samples[r].disturbed();
        }))
      kept.push_back(r);
  }
  return kept.size() >= std::max<std::size_t>(6, rounds / 2) ? kept : all;
}

std::uint32_t slots_for(const BoundTask& task, double floor_ns, double batch_ns) {
  // Small slots cost nothing: all of them, also for a program that was slow when it was checked.
  constexpr std::size_t kSmall = 16 << 10;
  if (batch_ns > 0 && MemoryLayout::bytes_per_slot(task) <= kSmall) floor_ns = 0;
  double wanted = std::ceil(batch_ns / std::max(floor_ns, 100.0));
  double room = std::floor(static_cast<double>(kSlotMemory) /
                           static_cast<double>(std::max<std::size_t>(MemoryLayout::bytes_per_slot(task), 1)));
  return static_cast<std::uint32_t>(std::clamp(std::min(wanted, room), 1.0, 256.0));
}

Result<int> time_interleaved(const BoundTask& task, const InputMemory& inputs,
                             std::vector<TimedProgram>& programs, const TimingOptions& options,
                             const TimingHooks& hooks) {
  RoundPlan plan = hooks.plan(-1);
  for (TimedProgram& timed : programs) choose_batch(task, inputs, timed, plan, options);

  std::mt19937_64 random(options.order_seed ? options.order_seed : std::random_device{}());
  std::vector<std::size_t> order(programs.size());
  std::iota(order.begin(), order.end(), 0);
  auto start = Clock::now();
  int round = 0;
  while (round < options.max_rounds) {
    plan = hooks.plan(round);
    if (options.refill)
      for (std::uint32_t slot : plan.order) fill_inputs(task, inputs, plan.choices[slot], slot);
    // Chance decides who comes first and who follows whom: whatever the noise is like, two programs that are
    // the same are then as likely to look faster one way as the other, which the interval of their ratio
    // rests on.
    std::ranges::shuffle(order, random);
    for (std::size_t which : order) {
      TimedProgram& timed = programs[which];
      if (timed.failure) continue;
      time_batch(task, timed, plan, timed.batch, options);
      std::span<const std::uint32_t> slots = plan.order;
      if (!timed.failure && hooks.after_batch)
        hooks.after_batch({which, round, slots.first(timed.batch), slots.subspan(timed.batch), plan});
    }
    for (TimedProgram& timed : programs) grow_batch(timed, plan.order.size(), options.batch_ns);
    ++round;
    if (hooks.progress) hooks.progress(round, options.max_rounds);
    if (round < options.min_rounds) continue;
    if (hooks.enough && hooks.enough(programs)) break;
    if (seconds_since(start) > options.seconds) break;
  }
  return round;
}

}  // namespace kforge

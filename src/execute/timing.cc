#include "execute/timing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>

#include "base/clock.h"
#include "execute/cold_caches.h"
#include "execute/quiet_time.h"
#include "machine/pinned_threads.h"
#include "machine/prompt_wakeups.h"
#include "machine/spin.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestMessage = 200e3;  // longer ones were delayed by something else
constexpr std::size_t kSlotMemory = std::size_t{1} << 30;
constexpr std::size_t kFewestKept = 6;  // rounds that say something without the others
constexpr double kShortestBatch = 1e6;  // what a message takes varies by a hundredth of it

// Everything that is timed is timed by one thread that does nothing else: whoever used its processor all the
// time waits for its turn when a program reports, whoever slept goes first.
template <class Work>
void on_the_clock(const Work& work) {
  static PinnedThreads* clock = [] {
    auto* thread = new PinnedThreads({-1});  // on any processor, as long as this program runs
    thread->run([](int) { ask_for_prompt_wakeups(); });
    return thread;
  }();
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  clock->run([&](int) { work(); });
}

// Of a program that is started anew: what comes once in every run (start-up, reading its own code, a first
// compilation) is in a run of one call as well as in one of `batch`, and not in their difference. Which of
// the two comes first is drawn.
Sample slope_sample(const CallTime& one, const CallTime& all, std::uint32_t batch) {
  // Start-ups vary by more than this: a slope that looks flatter is taken for as steep.
  constexpr double kResolution = 0.02;
  const double ns = (all.parent_ns - one.parent_ns) / (batch - 1);
  const double least = kResolution * one.parent_ns / (batch - 1);
  Sample sample{.ns_per_call = std::max(ns, least), .claimed_ns = all.claimed_ns, .parent_ns = all.parent_ns};
  sample.cpu_ns = all.cpu_ns;
  sample.delay_ns = std::max(one.delay_ns, all.delay_ns);
  sample.team_wait_ns = std::max(one.team_wait_ns, all.team_wait_ns);
  // Start-up took about as long this time as all the calls together: nothing can be seen in such a round.
  sample.stolen = ns <= least;
  sample.first_ns = one.parent_ns;
  sample.stated_ns = all.stated_ns;
  return sample;
}

Sample batch_sample(const CallTime& t, std::uint32_t batch, double message_ns) {
  // Never less than the program itself says it took.
  const double ns = std::max(t.parent_ns - message_ns, std::min(t.claimed_ns, t.parent_ns));
  return {.ns_per_call = ns / batch,
          .claimed_ns = t.claimed_ns,
          .device_ns = t.device_ns,
          .parent_ns = t.parent_ns,
          .cpu_ns = t.cpu_ns,
          .message_ns = message_ns,
          .delay_ns = t.delay_ns,
          .team_wait_ns = t.team_wait_ns,
          .computing_threads = t.computing_threads};
}

// The calls of one sample, on the clock: one message with all of them; of a program that is started anew two
// runs.
Step<Sample> call_batch(ProgramProcess& process, const std::vector<std::uint32_t>& slots, double message_ns,
                        std::chrono::milliseconds limit) {
  const auto batch = static_cast<std::uint32_t>(slots.size());
  if (!process.usage().starts_anew) {
    KF_STEP(CallTime time, process.call(slots, limit));
    return batch_sample(time, batch, message_ns);
  }
  CallTime one, all;
  const bool one_first = slots.front() % 2 == 0;
  for (const bool first : {one_first, !one_first}) {
    KF_STEP(CallTime time, process.call(first ? std::vector{slots.front()} : slots, limit));
    (first ? one : all) = time;
  }
  return slope_sample(one, all, batch);
}

// One batch of one program: outputs reset, caches cold, cores warm, one timed call message.
void time_batch(const BoundTask& task, const InputMemory& inputs, TimedProgram& timed, const RoundPlan& plan,
                std::uint32_t batch, const TimingOptions& options) {
  for (std::uint32_t slot : plan.order)
    reset_outputs(task, timed.process->outputs(), plan.choices[slot], slot);
  if (timed.process->usage().starts_anew) batch = std::max(batch, 2u);
  const std::vector<std::uint32_t> slots(plan.order.begin(), plan.order.begin() + batch);
  auto spin_start = Clock::now();
  std::size_t stream = options.cold ? options.evict_bytes : 0;
  // Buffers of a device, and of a process that is started anew, are no memory of ours.
  const Usage& usage = timed.process->usage();
  if (options.cold && !usage.has_transfers && !usage.starts_anew)
    stream = flush_tensors(task, inputs, timed.process->outputs(), slots, stream, options.cpus.size());
  spin_cores(options.cpus, options.spin, stream);
  timed.spin_ns += seconds_since(spin_start) * 1e9;
  double message_ns = 0;
  // A call by itself may be shorter than what messages vary by. The quickest of several is taken off then:
  // the figure is rather too long than what the program claims.
  const int questions = options.batch_ns > 0 ? 1 : 5;
  std::optional<Step<Sample>> answer;
  std::uint64_t steal = 0;
  on_the_clock([&] {
    for (int i = 0; options.echo && i < questions; ++i)
      if (auto echo = options.echo->echo_ns())
        message_ns = std::min({*echo, kLongestMessage, i == 0 ? kLongestMessage : message_ns});
    steal = steal_ticks();
    answer = call_batch(*timed.process, slots, message_ns, options.call_limit);
  });
  auto& step = *answer;
  if (!step) {
    timed.failure = Crash{step.error().message, ""};
    return;
  }
  if (!step->has_value()) {
    timed.failure = step->error();
    return;
  }
  Sample sample = **step;
  timed.spent_ns += sample.parent_ns + sample.first_ns;
  sample.stolen = sample.stolen || steal_ticks() != steal;
  timed.fastest_ns = std::min(timed.fastest_ns, std::max(sample.ns_per_call, 1.0));
  timed.samples.push_back(sample);
}

// Calls enough for `batch_ns` at the speed of the fastest: the same number for everybody, because what comes
// once per batch (a team that wakes, code that is cold) must weigh the same on both sides of a ratio. Only a
// program that is several times slower makes fewer.
void set_batches(std::vector<TimedProgram>& programs, std::size_t slots, double batch_ns) {
  constexpr double kMuchSlower = 4;
  constexpr double kStillABatch = 4;  // in fewer calls nobody can be seen to work ahead
  double most = 1;
  for (const TimedProgram& timed : programs)
    if (!timed.failure && !timed.process->usage().starts_anew)
      most = std::max(most, std::ceil(batch_ns / std::max(timed.fastest_ns, 1.0)));
  for (TimedProgram& timed : programs) {
    if (timed.failure || timed.process->usage().starts_anew) continue;
    const double own = std::ceil(kMuchSlower * batch_ns / std::max(timed.fastest_ns, 1.0));
    const double least = std::min<double>(timed.batch, kStillABatch);
    timed.batch = static_cast<std::uint32_t>(
        std::clamp(std::min(most, own), least, static_cast<double>(std::max<std::size_t>(slots, 1))));
  }
}

// The slope over two calls tells roughly how many make one that stands out from what start-ups vary by.
void try_runs(const BoundTask& task, const InputMemory& inputs, TimedProgram& timed, const RoundPlan& plan,
              const TimingOptions& options) {
  constexpr double kSlopeNs = 100e6;
  const auto slots = static_cast<double>(plan.order.size());
  for (std::uint32_t i = 0; options.refill && i < 2; ++i)
    fill_inputs(task, inputs, plan.choices[plan.order[i]], plan.order[i]);
  timed.fastest_ns = std::numeric_limits<double>::infinity();
  time_batch(task, inputs, timed, plan, 2, options);
  if (timed.failure) return;
  timed.batch = static_cast<std::uint32_t>(
      std::clamp(std::ceil(kSlopeNs / timed.fastest_ns), std::min(4.0, slots), slots));
  timed.samples.clear();
  timed.fastest_ns = std::numeric_limits<double>::infinity();
}

// Single calls tell roughly how long one takes: what a message takes hides a call of a microsecond. A batch
// of as many as that makes tells better. They also warm what is warmed once per process.
void try_calls(const BoundTask& task, const InputMemory& inputs, TimedProgram& timed, const RoundPlan& plan,
               const TimingOptions& options) {
  constexpr int kTries = 5;
  TimingOptions quick = options;
  quick.spin = std::chrono::milliseconds(2);
  quick.cold = false;
  const double most = static_cast<double>(plan.order.size());
  std::uint32_t filled = 0, calls = 1;
  timed.fastest_ns = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    for (; options.refill && filled < calls; ++filled)
      fill_inputs(task, inputs, plan.choices[plan.order[filled]], plan.order[filled]);
    time_batch(task, inputs, timed, plan, calls, quick);
    if (timed.failure) return;
    if (i == 0) timed.fastest_ns = std::numeric_limits<double>::infinity();  // the first call is the slowest
    if (i == 0) continue;
    const double wanted = std::clamp(std::ceil(options.batch_ns / timed.fastest_ns), 1.0, most);
    if (wanted <= 2.0 * calls) break;
    calls = static_cast<std::uint32_t>(wanted);
  }
  timed.samples.clear();
}

// A program that was slow while it was tried, or slower than it can be: the shorter a batch, the more of what
// is measured is the message.
bool batches_too_short(const std::vector<TimedProgram>& programs, std::size_t slots, double batch_ns) {
  constexpr double kFarTooShort = 0.25;
  return std::ranges::any_of(programs, [&](const TimedProgram& timed) {
    return !timed.failure && !timed.process->usage().starts_anew && timed.batch < slots &&
           timed.batch * timed.fastest_ns < kFarTooShort * batch_ns;
  });
}

// Rounds that every program went through.
std::size_t whole_rounds(const std::vector<TimedProgram>& programs) {
  std::size_t rounds = programs.empty() ? 0 : programs[0].samples.size();
  for (const TimedProgram& timed : programs)
    if (!timed.failure) rounds = std::min(rounds, timed.samples.size());
  return rounds;
}

bool anybody_disturbed(const std::vector<TimedProgram>& programs, std::size_t round) {
  return std::ranges::any_of(programs, [round](const TimedProgram& timed) {
    return round < timed.samples.size() && timed.samples[round].disturbed();
  });
}

}  // namespace

int rounds_disturbed(const std::vector<TimedProgram>& programs) {
  int count = 0;
  for (std::size_t r = 0; r < whole_rounds(programs); ++r) count += anybody_disturbed(programs, r);
  return count;
}

KeptRounds rounds_kept(const std::vector<TimedProgram>& programs) {
  const std::size_t rounds = whole_rounds(programs);
  std::vector<std::size_t> kept, all;
  for (std::size_t r = 0; r < rounds; ++r) {
    all.push_back(r);
    if (!anybody_disturbed(programs, r)) kept.push_back(r);
  }
  const bool disturbed = kept.size() < std::max(std::min(kFewestKept, rounds), rounds / 4);
  return {disturbed ? all : kept, disturbed};
}

std::uint32_t slots_for_runs(const BoundTask& task) {
  constexpr std::size_t kRunMemory = 128 << 20;
  const std::size_t each = std::max<std::size_t>(MemoryLayout::bytes_per_slot(task), 1);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(kRunMemory / each, 4, 256));
}

std::uint32_t slots_for(const BoundTask& task, double floor_ns, double batch_ns) {
  // Small slots cost nothing: all of them, also for a program that was slow when it was checked.
  constexpr std::size_t kSmall = 16 << 10;
  if (batch_ns > 0 && MemoryLayout::bytes_per_slot(task) <= kSmall) floor_ns = 0;
  // Large ones cost more than the calls: values are drawn and outputs reset in every slot, in every round and
  // for every program. Calls on them are long, so that fewer make a batch.
  constexpr double kLarge = 4 << 20, kLargeBatch = 2e6, kMostBytesPerNs = 200;
  const auto bytes = static_cast<double>(MemoryLayout::bytes_per_slot(task));
  if (bytes > kLarge) {
    batch_ns = std::min(batch_ns, kLargeBatch);
    floor_ns = std::max(floor_ns, bytes / kMostBytesPerNs);
  }
  double wanted = std::ceil(batch_ns / std::max(floor_ns, 100.0));
  double room = std::floor(static_cast<double>(kSlotMemory) /
                           static_cast<double>(std::max<std::size_t>(MemoryLayout::bytes_per_slot(task), 1)));
  return static_cast<std::uint32_t>(std::clamp(std::min(wanted, room), 1.0, 256.0));
}

Result<int> time_interleaved(const BoundTask& task, const InputMemory& inputs,
                             std::vector<TimedProgram>& programs, const TimingOptions& options,
                             const TimingHooks& hooks) {
  QuietTime quiet;
  RoundPlan plan = hooks.plan(-1);
  for (TimedProgram& timed : programs)
    (timed.process->usage().starts_anew ? try_runs : try_calls)(task, inputs, timed, plan, options);
  set_batches(programs, plan.order.size(), options.batch_ns);

  std::mt19937_64 random(options.order_seed ? options.order_seed : std::random_device{}());
  std::vector<std::size_t> order(programs.size());
  std::iota(order.begin(), order.end(), 0);
  auto start = Clock::now();
  double batch_ns = options.batch_ns;
  int round = 0, disturbed = 0, disturbed_in_a_row = 0;
  for (;;) {
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
      time_batch(task, inputs, timed, plan, timed.batch, options);
      std::span<const std::uint32_t> slots = plan.order;
      if (!timed.failure && hooks.after_batch)
        hooks.after_batch({which, round, slots.first(timed.batch), slots.subspan(timed.batch), plan});
    }
    if (options.watch) on_the_clock([&] { options.watch->look(); });
    const bool lost = anybody_disturbed(programs, static_cast<std::size_t>(round));
    ++round;
    disturbed += lost;
    disturbed_in_a_row = lost ? disturbed_in_a_row + 1 : 0;
    // Beside busy neighbours a short batch gets through between two of their turns where a long one does not.
    const bool shorten = disturbed_in_a_row >= 2 && batch_ns > kShortestBatch;
    if (shorten) batch_ns = std::max(batch_ns / 2, kShortestBatch);
    if (shorten || batches_too_short(programs, plan.order.size(), batch_ns))
      set_batches(programs, plan.order.size(), batch_ns);
    if (hooks.progress) hooks.progress(round, std::max(options.max_rounds, round));
    if (round < options.min_rounds) continue;
    // Rounds that were lost are made up for, within limits.
    const bool too_few = round - disturbed < static_cast<int>(kFewestKept) && options.min_rounds > 1;
    const double patience = too_few ? options.patience : 1;
    if (round >= patience * options.max_rounds || seconds_since(start) > patience * options.seconds) break;
    if (!too_few && round >= options.max_rounds) break;
    if (hooks.enough && hooks.enough(programs)) break;
  }
  release_eviction_memory();
  return round;
}

}  // namespace kforge

// Interleaved timing: in every round each program runs one batch on the same fresh values, in an order drawn
// for the round, after the cores were kept busy (and the caches evicted) for a moment. Raw samples only;
// verify/ judges them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/failure.h"
#include "execute/fill.h"
#include "execute/program_process.h"
#include "machine/load_watch.h"

namespace kforge {

struct TimingOptions {
  bool cold = true;       // evict caches before every batch
  std::vector<int> cpus;  // kept busy before a sample
  std::size_t evict_bytes =
      0;  // that each core streams to push everything out of the caches, see cold_caches.h
  std::chrono::milliseconds spin{20};
  // Asked just before every batch what a message takes, which is taken off the batch's wall time. It has
  // loaded nothing, so no candidate has a say in it.
  ProgramProcess* echo = nullptr;
  double batch_ns = 4e6;  // a batch repeats the call until it takes this long
  int min_rounds = 7, max_rounds = 30;
  double seconds = 4;   // stop starting rounds after this long, once min_rounds are done
  double patience = 3;  // times `seconds` and `max_rounds`, while too few rounds were undisturbed
  std::chrono::milliseconds call_limit{60'000};
  std::uint64_t order_seed = 0;  // of the order of programs in each round; 0: drawn
  LoadWatch* watch = nullptr;    // looks once a round; may be null
  bool refill = true;            // new values in every slot before every round; false: the caller filled them
};

struct Sample {
  double ns_per_call = 0;  // the parent's wall time, less the message's, over the number of calls
  double claimed_ns = 0;   // of the whole batch, by the program's clock
  double device_ns = 0;    // of the whole batch, by the device's clock; 0: there is none
  double parent_ns = 0;    // of the whole batch
  double cpu_ns = 0;       // of the whole batch, all threads
  double message_ns = 0;   // of parent_ns, taken off
  double first_ns = 0;     // wall time of a run of one call, of a program that is started anew; else 0
  double stated_ns = 0;    // of one call, by such a program itself
  double delay_ns = 0;     // of parent_ns, see CallTime
  bool stolen = false;     // the hypervisor took time away meanwhile
  double team_wait_ns = 0;
  int computing_threads = 0;

  // Something else had a processor that the program was ready to use.
  bool disturbed() const { return stolen || std::max(delay_ns, team_wait_ns) > 0.1 * parent_ns; }
};

struct TimedProgram;
// The rounds that count: those in which nobody was disturbed, or all of them where that leaves fewer than
// six, or than a quarter. Which rounds count must not depend on who was disturbed.
struct KeptRounds {
  std::vector<std::size_t> rounds;
  bool disturbed = false;  // all of them, because too few were not
};
KeptRounds rounds_kept(const std::vector<TimedProgram>& programs);
int rounds_disturbed(const std::vector<TimedProgram>& programs);

struct TimedProgram {
  ProgramProcess* process = nullptr;
  std::uint32_t batch = 1;         // calls per batch, at most the number of slots
  double fastest_ns = 0;           // per call, of any batch
  std::vector<Sample> samples;     // by round
  std::optional<Failure> failure;  // it failed in this round; no samples after it
  double spent_ns = 0;             // in calls, all rounds
  double spin_ns = 0;              // warming cores and evicting caches before them
};

// The values of each slot in a round, and the order in which slots are called. A batch of n calls takes the
// first n of the order; the other slots are filled all the same, so that nobody can tell which will be
// called.
struct RoundPlan {
  std::vector<InputChoice> choices;  // by slot
  std::vector<std::uint32_t> order;  // every slot once
};

// One batch, for whoever checks its outputs while the program is still stopped.
struct BatchView {
  std::size_t program = 0;
  int round = 0;
  std::span<const std::uint32_t> called;  // slots, in calling order
  std::span<const std::uint32_t> not_called;
  const RoundPlan& plan;
};

struct TimingHooks {
  // Called before each round, and once with round -1 before the batch sizes are chosen.
  std::function<RoundPlan(int round)> plan;
  // After each batch, outputs in place.
  std::function<void(const BatchView&)> after_batch;
  // After each round beyond the least number: true ends the run (enough known, or hopeless).
  std::function<bool(const std::vector<TimedProgram>&)> enough;
  std::function<void(int round, int of)> progress;
};

// Sets TimedProgram::batch from a few calls of each, then times. An Error is the machinery's; a program
// that fails keeps its failure and the others go on.
Result<int> time_interleaved(const BoundTask& task, const InputMemory& inputs,
                             std::vector<TimedProgram>& programs, const TimingOptions& options,
                             const TimingHooks& hooks);

// Slots for programs that are started anew for every run: enough calls to see a slope, in files that are
// quickly written.
std::uint32_t slots_for_runs(const BoundTask& task);

// Slots for batches of batch_ns when nothing can be faster than `floor_ns` a call, within limits of memory.
std::uint32_t slots_for(const BoundTask& task, double floor_ns, double batch_ns);

}  // namespace kforge

// Does a program do the work of each call in that call? All inputs of a batch are in place when it begins: a program
// could do the work of many calls at once, in one go of its threads, keep the results, check that nothing has changed
// and only copy afterwards. Every value is then right, whatever is changed meanwhile; what it cannot hide is the pace.
// Honest calls finish one after the other in even steps, copies in a burst.
#pragma once

#include "run/contender.h"
#include "run/timing.h"

namespace kforge {

struct Pace {
  bool conclusive = false;  // the watcher was awake all the time
  double burst = 0;         // share of calls that finished in less than a quarter of the time their work takes
};

// Runs one batch and watches from another thread when each call's output appears.
// REQUIRES: tripwire_possible(task), at least four calls.
Step<Pace> watch_pace(const BoundTask& task, const InputMemory& inputs, Contender& contender, const RoundPlan& plan,
                      std::uint32_t batch, int threads, std::chrono::milliseconds limit);

}  // namespace kforge

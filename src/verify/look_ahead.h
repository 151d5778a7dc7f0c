// Does a program work ahead within a batch? All inputs of a batch are in place when it begins, so the first
// call could do the work of all and the others only copy. The probe changes a few elements of the last
// call's inputs while the first calls are under way: an honest program has not looked at them yet.
#pragma once

#include "execute/program_process.h"
#include "execute/timing.h"

namespace kforge {

struct LookAheadProbe {
  bool conclusive = false;  // the inputs were changed before the second-last call had written anything
  std::uint32_t slot = 0;   // of the last call
  InputChoice choice;       // the values it had to use
};

// Runs one batch of at least three calls. REQUIRES: the task has an output that is not updated in place.
Step<LookAheadProbe> probe_look_ahead(const BoundTask& task, const InputMemory& inputs,
                                      ProgramProcess& process, const RoundPlan& plan, std::uint32_t batch,
                                      std::uint64_t seed, std::chrono::milliseconds limit);

// The first output that is not updated in place and not a scalar, with its index; null when there is none.
const BoundArgument* first_output(const BoundTask& task, std::size_t& index);
// First and last elements still poisoned: enough to say that a call has not begun or is not done.
bool ends_untouched(const BoundArgument& argument, std::uint64_t seed, std::span<const std::byte> data);

// False for tasks whose every output is updated in place.
bool can_probe_look_ahead(const BoundTask& task);

}  // namespace kforge

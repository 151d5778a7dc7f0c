// A candidate for a device as its builders see it: the source, its macros, and the plan with every size
// known.
#pragma once

#include <string>

#include "base/failure.h"
#include "device/launch_plan.h"
#include "generate/candidate.h"
#include "task/task.h"

namespace kforge {

// What a device takes; plans that ask for more are refused with a word before anything is compiled.
struct DeviceLimits {
  std::uint32_t most_threads = 1024;               // of one block
  std::size_t most_memory = std::size_t{8} << 30;  // all buffers of the plan together
  bool non_uniform = false;                        // grids of threads
};

struct DeviceProgram {
  LaunchPlan plan;
  PlanSymbols macros;   // dimensions, tunables and the plan's defines: macros of the source
  PlanSetting setting;  // what the plan was read with: the same text read with it gives the same plan
};

// The task's tensors and dimensions, and the candidate's tunables. A tunable named as a dimension is a
// mistake.
std::expected<PlanSetting, CompileError> plan_setting(const Candidate& candidate, const BoundTask& task,
                                                      const DeviceLimits& limits);

// The candidate's mistakes are CompileErrors that name the place in plan.json; without one it is NoProgram.
Step<DeviceProgram> read_device_program(const Candidate& candidate, const BoundTask& task,
                                        const DeviceLimits& limits);

}  // namespace kforge

// The built-in cost model of devices that KForge emulates: what the emulator counted, on the roofline of a
// named chip. It ranks programs for the same task; what it gives is no time. docs/cost_model.md explains it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulate/findings.h"
#include "platform/chip.h"
#include "profile/device/instruction_mix.h"
#include "profile/device/occupancy.h"
#include "profile/device/ptxas.h"
#include "profile/profile_candidate.h"

namespace kforge {

// One kernel with one grid, or a fill or copy (kernel ""). Figures of one launch, unless said otherwise.
struct LaunchFigures {
  std::string kernel;
  double times = 1;  // it is launched
  double blocks = 0, threads = 0;
  double registers = 0, shared_bytes = 0;  // of a thread, of a block
  bool registers_estimated = true;
  Occupancy occupancy;
  double waves = 0;
  double sectors_per_request = 0, bank_passes = 0;  // of global, of shared memory; 0: it makes none
  double sector_use = 1;              // fraction of the sectors' bytes that lanes ask for, at most 1
  double active_lanes = 1;            // fraction of the lanes that instructions are issued for
  double barriers = 0, meetings = 0;  // of a block; of a warp
  double instructions = 0, flops = 0, special = 0;  // issued by warps; done by lanes
  double requests = 0, shared_requests = 0, l1_bytes = 0, l2_bytes = 0, memory_bytes = 0;
  // What it would take if nothing but this limited it, ns.
  double issue_ns = 0, special_ns = 0, shared_ns = 0, l1_ns = 0, l2_ns = 0, memory_ns = 0, latency_ns = 0;
  double ns = 0;           // all together
  std::string_view bound;  // the largest of them
};

// `registers`: by kernel, from ptxas; one that is missing is estimated. An Error: it does not fit on the
// chip.
Result<std::vector<LaunchFigures>> model_launches(const emulate::Report& counts, const InstructionMix& mix,
                                                  const PtxasKernels& registers, const Chip& chip);
double modelled_ns(const std::vector<LaunchFigures>& launches);

// Counts the program and models it.
struct SimtResult {
  std::vector<LaunchFigures> launches;
  emulate::Report counts;
  bool partial = false;
  std::string registers_absent;  // why ptxas was not asked; "" where it was
};
Result<SimtResult> simt_model(const ProfileInput& input, const Chip& chip);
Result<ModelledTime> simt_time(const ProfileInput& input, const Chip& chip);

}  // namespace kforge

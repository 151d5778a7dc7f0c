// What NVIDIA's assembler says of each kernel, where nvcc is installed: registers, shared memory, spills.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "generate/candidate.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

namespace kforge {

struct PtxasKernel {
  double registers = 0, shared_bytes = 0, stack_bytes = 0, spill_stores = 0, spill_loads = 0;
};
using PtxasKernels = std::map<std::string, PtxasKernel>;

PtxasKernels parse_ptxas(std::string_view log);  // what nvcc -Xptxas -v prints

// Compiles the program for an architecture ("sm_90"), inside the sandbox; kept by content. An Error where
// nvcc is missing or refuses the program.
Result<PtxasKernels> ptxas_facts(const Candidate& candidate, const BoundTask& task,
                                 const std::string& architecture, SandboxTier tier);

}  // namespace kforge

// Several programs started at once: a library takes seconds to load, most of them on one core.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "execute/program_process.h"

namespace kforge {

// In the order of `specs`; each fails for itself.
std::vector<Step<std::unique_ptr<ProgramProcess>>> start_together(const std::vector<ProgramSpec>& specs,
                                                                  const BoundTask& task,
                                                                  const InputMemory& inputs,
                                                                  std::chrono::milliseconds load_limit);

}  // namespace kforge

// How many blocks of a kernel a unit of the chip holds at once, and what keeps it from holding more.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/chip.h"

namespace kforge {

inline constexpr double kWarpLanes = 32;

struct BlockNeeds {
  double threads = 0, registers = 0, shared_bytes = 0;  // registers: of a thread
};

struct Occupancy {
  double blocks = 0;       // on one unit; 0: it does not fit at all
  double warps = 0;        // of them together
  double fraction = 0;     // of the warps that the unit can hold
  std::string_view limit;  // "threads", "blocks", "registers", "shared memory"
};

Occupancy occupancy_of(const BlockNeeds& needs, const Chip& chip);

// What the architectures of NVIDIA hold on a multiprocessor, for facts beside the chip's own: only the fields
// that occupancy_of() looks at.
std::vector<Chip> known_architectures();

}  // namespace kforge

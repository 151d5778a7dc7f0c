#include "profile/device/occupancy.h"

#include <algorithm>
#include <cmath>

namespace kforge {
namespace {

double up_to(double value, double granule) {
  return granule > 0 ? std::ceil(value / granule) * granule : value;
}

Chip architecture(const char* name, double threads, double blocks, double shared_kb) {
  Chip chip;
  chip.name = chip.architecture = name;
  chip.threads_per_unit = threads;
  chip.blocks_per_unit = blocks;
  chip.threads_per_block = 1024;
  chip.registers_per_unit = 65536;
  chip.registers_granule = 256;
  chip.shared_kb_per_unit = shared_kb;
  // Since 8.0 the system keeps 1 KB of each block's; before, nothing.
  chip.shared_kb_reserved = chip.architecture == "sm_75" ? 0 : 1;
  chip.shared_kb_per_block = shared_kb - chip.shared_kb_reserved;
  return chip;
}

}  // namespace

Occupancy occupancy_of(const BlockNeeds& needs, const Chip& chip) {
  const double warps = std::ceil(std::max(needs.threads, 1.0) / kWarpLanes);
  const double shared = needs.shared_bytes + 1024 * chip.shared_kb_reserved;
  struct Bound {
    std::string_view name;
    double blocks;
  };
  std::vector<Bound> bounds = {{"threads", std::floor(chip.threads_per_unit / (warps * kWarpLanes))},
                               {"blocks", chip.blocks_per_unit}};
  if (needs.registers > 0)
    bounds.push_back(
        {"registers", std::floor(chip.registers_per_unit /
                                 (warps * up_to(needs.registers * kWarpLanes, chip.registers_granule)))});
  if (needs.shared_bytes > 0)
    bounds.push_back({"shared memory", std::floor(1024 * chip.shared_kb_per_unit / shared)});
  const Bound& least = *std::ranges::min_element(bounds, {}, &Bound::blocks);
  Occupancy found{least.blocks, least.blocks * warps, 0, least.name};
  if (needs.threads > chip.threads_per_block) found = {0, 0, 0, "threads"};
  if (needs.shared_bytes > 1024 * chip.shared_kb_per_block) found = {0, 0, 0, "shared memory"};
  found.fraction = found.warps * kWarpLanes / chip.threads_per_unit;
  return found;
}

std::vector<Chip> known_architectures() {
  // From the table "Technical Specifications per Compute Capability" of the CUDA programming guide.
  return {architecture("sm_75", 1024, 16, 64),  architecture("sm_80", 2048, 32, 164),
          architecture("sm_86", 1536, 16, 100), architecture("sm_89", 1536, 24, 100),
          architecture("sm_90", 2048, 32, 228), architecture("sm_100", 2048, 32, 228),
          architecture("sm_120", 1536, 24, 100)};
}

}  // namespace kforge

// A device as its cost model sees it: the figures of [model.chip] in platform.toml, all of them given.
// docs/cost_model.md says what each means and how it is used.
#pragma once

#include <string>
#include <string_view>

namespace kforge {

struct Chip {
  std::string name;          // "NVIDIA H100 SXM"
  std::string architecture;  // "sm_90": what registers are asked for; "": they are estimated
  double units = 0;          // multiprocessors, cores
  double clock_ghz = 0;
  double issue_per_clock = 0;          // instructions of warps that a unit issues
  double special_per_clock = 0;        // lanes of a unit that do exp, sine, division, square root
  double shared_passes_per_clock = 0;  // over all banks of a unit's shared memory
  double sectors_per_clock = 0;        // of 32 bytes, from a unit's first cache
  double memory_gb_s = 0, l2_gb_s = 0, l2_mb = 0;
  double l1_kb = 0;  // of a unit, for what its blocks read again
  double memory_latency_ns = 0, l1_latency_clocks = 0, shared_latency_clocks = 0;
  double arithmetic_latency_clocks = 0, barrier_clocks = 0;
  double launch_us = 0;
  double threads_per_unit = 0, blocks_per_unit = 0, threads_per_block = 0;
  double registers_per_unit = 0, registers_granule = 0;  // granule: a warp's are allocated in steps of
  double shared_kb_per_unit = 0, shared_kb_per_block = 0, shared_kb_reserved = 0;  // reserved: in every block
};

// The keys of [model.chip] besides `name` and `architecture`.
struct ChipKey {
  std::string_view key;
  double Chip::*field;
};
inline constexpr ChipKey kChipKeys[] = {
    {"units", &Chip::units},
    {"clock_ghz", &Chip::clock_ghz},
    {"issue_per_clock", &Chip::issue_per_clock},
    {"special_per_clock", &Chip::special_per_clock},
    {"shared_passes_per_clock", &Chip::shared_passes_per_clock},
    {"sectors_per_clock", &Chip::sectors_per_clock},
    {"memory_gb_s", &Chip::memory_gb_s},
    {"l2_gb_s", &Chip::l2_gb_s},
    {"l2_mb", &Chip::l2_mb},
    {"l1_kb", &Chip::l1_kb},
    {"memory_latency_ns", &Chip::memory_latency_ns},
    {"l1_latency_clocks", &Chip::l1_latency_clocks},
    {"shared_latency_clocks", &Chip::shared_latency_clocks},
    {"arithmetic_latency_clocks", &Chip::arithmetic_latency_clocks},
    {"barrier_clocks", &Chip::barrier_clocks},
    {"launch_us", &Chip::launch_us},
    {"threads_per_unit", &Chip::threads_per_unit},
    {"blocks_per_unit", &Chip::blocks_per_unit},
    {"threads_per_block", &Chip::threads_per_block},
    {"registers_per_unit", &Chip::registers_per_unit},
    {"registers_granule", &Chip::registers_granule},
    {"shared_kb_per_unit", &Chip::shared_kb_per_unit},
    {"shared_kb_per_block", &Chip::shared_kb_per_block},
    {"shared_kb_reserved", &Chip::shared_kb_reserved},
};

}  // namespace kforge

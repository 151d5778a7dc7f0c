// What the stretches of instructions that the emulator counts consist of, from a disassembly of the library
// that ran. A processor's instructions stand in for a device's: arithmetic, conversions and jumps count,
// moves do not (they are this processor's few registers), and accesses to memory are counted apart.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace kforge {

struct StretchMix {
  double instructions = 0;  // of one lane
  double flops = 0;         // among them; a fused multiply-add is two
  double special = 0;       // exp, sine, division, square root
  double frame_bytes = 0;   // of the function it is in
};

// By the offset at which a stretch begins (emulate::LaunchCounts::Code).
using InstructionMix = std::map<std::uint64_t, StretchMix>;

InstructionMix mix_of(std::string_view listing);  // objdump -d
Result<InstructionMix> instruction_mix(const std::filesystem::path& library, SandboxTier tier);

}  // namespace kforge

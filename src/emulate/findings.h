// What a run of the variants `asan` and `check` found, with the source lines of both sides; and how each
// instruction used memory. Read from memory that the runtime filled (runtime/report.h), as hostile as
// anything from the sandbox.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/sandbox.h"

namespace kforge::emulate {

std::size_t report_bytes();  // of the memory that the program's last argument points to

enum class FindingKind : std::uint8_t {
  kRace = 1,
  kOutOfBounds,
  kBarrierDiverged,
  kBarrierLeft,
  kDeadlock,
  kLaneAbsent,
  kMeetingDiverged,
  kLimit,
  kTrap,
  kUnwritten,
};
std::string_view name_of(FindingKind kind);  // "race", "out of bounds", ...

struct FindingPlace {
  std::string file;  // "" where nothing is known
  int line = 0;
  bool is_write = false;
  std::array<std::uint32_t, 3> thread{}, block{};
};

struct Finding {
  FindingKind kind = FindingKind::kRace;
  std::string kernel, text;
  std::uint32_t times = 0;
  std::vector<FindingPlace> places;  // one or two

  // "race on shared as: write against read, kernel.cu:12 (thread 3, block 0) and kernel.cu:14 (thread 4,
  // block 0)"
  std::string sentence() const;
};

// Of all accesses that one line of a kernel makes in one way.
struct Traffic {
  std::string kernel, file;
  int line = 0;
  bool shared = false, write = false, atomic = false;
  double requests = 0;
  double units = 0;  // for each request: sectors of 32 bytes, or passes over the banks of shared memory
  double lanes = 0;  // that take part, of 32
  std::uint32_t bytes = 0;  // of one lane's access
  std::size_t launch = 0;   // of Report::launches, in the variant `count`
};

// Variant `count`: all launches of one kernel with one grid, estimated from some of their blocks.
struct LaunchCounts {
  std::string kernel;  // "": a fill or a copy, which moves `bytes`
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint64_t shared_bytes = 0, bytes = 0;  // shared: of a block, static and dynamic
  double times = 0;
  double barriers = 0, meetings = 0, warps = 0;  // in all launches: of blocks, of warps, how many warps
  struct Memory {
    std::string name;
    std::uint64_t bytes = 0;
    double read = 0, written = 0;  // bytes, each sector once in a block
  };
  std::vector<Memory> memory;
  // Stretches of instructions: where they begin in the library, how often warps run them, and their lanes
  // together.
  struct Code {
    std::uint64_t offset = 0;
    double issues = 0, lanes = 0;
  };
  std::vector<Code> code;
};

struct Report {
  std::vector<Finding> findings;
  std::vector<Traffic> traffic;
  std::vector<LaunchCounts> launches;
  std::uint64_t accesses = 0;
  bool overflowed = false;  // there was more to count than there is room for
};

// Asks the variant `count` to count: `seed` draws the blocks it looks at; `partial`: no others run. Without
// it nothing is counted.
void ask_for_counts(std::span<std::byte> memory, std::uint64_t seed, bool partial);

// `library` is the file that ran: its line tables say where an instruction comes from.
Result<Report> read_report(std::span<const std::byte> memory, const std::filesystem::path& library,
                           SandboxTier tier);

}  // namespace kforge::emulate

// plan.json: what the host does with the kernels of a device program. A candidate has no host code of its
// own; this is all it says about launches, and every word is checked here, once, for every interface.
// docs/devices.md has the form.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/failure.h"
#include "device/plan_expr.h"
#include "graph/dtype.h"

namespace kforge {

// Memory that kernels are given: the task's tensors first, then the plan's own buffers.
struct PlanMemory {
  std::string name;
  DType dtype = DType::kFloat32;
  std::size_t bytes = 0;
  bool prepared =
      false;  // a buffer that `prepare` uses: it lives until the next prepare, and `run` only reads it
};

struct PlanUse {
  std::size_t memory = 0;  // index in LaunchPlan::memory
  std::size_t offset = 0;  // bytes
};
struct PlanScalar {
  enum class Type : std::uint8_t { kInt32, kUint32, kInt64, kFloat32 };
  Type type = Type::kInt32;
  std::int64_t integer = 0;  // of the integer types
  float real = 0;
};
using PlanArgument = std::variant<PlanUse, PlanScalar>;

struct PlanLaunch {
  std::string kernel;
  std::array<std::uint32_t, 3> grid{1, 1, 1};   // blocks
  std::array<std::uint32_t, 3> block{1, 1, 1};  // threads of one
  std::array<std::uint32_t, 3> threads{};  // of the whole grid, where it is no multiple of blocks; else 0
  std::size_t shared_bytes = 0;            // beside what the source declares
  std::vector<PlanArgument> arguments;
};
struct PlanFill {
  std::size_t memory = 0;
  double value = 0;  // of every element
};
struct PlanCopy {
  std::size_t from = 0, to = 0;
  std::size_t bytes = 0;
};
using PlanStep = std::variant<PlanLaunch, PlanFill, PlanCopy>;

struct LaunchPlan {
  std::vector<PlanMemory> memory;      // tensors in the task's order, then buffers by name
  std::size_t tensors = 0;             // how many of them are tensors
  PlanSymbols defines;                 // further macros of the source
  bool general = false;                // claims any shape
  std::vector<PlanStep> prepare, run;  // repeats written out

  std::set<std::string> kernels() const;
};

// What a plan is for.
struct PlanTensor {
  std::string name;  // as the task's C name
  DType dtype = DType::kFloat32;
  std::size_t bytes = 0;
  bool param = false;   // `prepare` may read it
  bool output = false;  // outputs and inouts: steps may write it
};
struct PlanSetting {
  std::vector<PlanTensor> tensors;
  PlanSymbols dimensions;                          // and tunables
  std::uint32_t most_threads = 1024;               // of one block
  bool non_uniform = false;                        // the device takes grids of threads (Metal)
  std::size_t most_memory = std::size_t{8} << 30;  // all buffers of the plan together
};

inline constexpr std::size_t kMostPlanLaunches = 10'000;

// The candidate's mistakes name the place and the remedy: `plan.json: run[2].grid: unknown symbol 'E' (did
// you mean 'D'?)`. Arguments are checked against a kernel's signature by the interface that has compiled it.
std::expected<LaunchPlan, CompileError> read_launch_plan(std::string_view text, const PlanSetting& setting);

}  // namespace kforge

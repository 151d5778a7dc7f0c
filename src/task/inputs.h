// Values for a task's inputs, params and inouts, from a seed. The same seed gives the same values on every
// machine; seeds are secret while a candidate runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "task/task.h"
#include "task/variation.h"

namespace kforge {

// What the values are like; each is a gate's view of the task.
enum class InputKind : std::uint8_t {
  kOwn,        // the task's own distributions
  kNormal,     // normal, random location and scale per tensor (within the distribution's constraints)
  kHeavyTail,  // mostly small, some very large: Student t with 3 degrees of freedom
  kInteger,    // small whole numbers, so that sums and products are exact in fp32
  kLarge,  // magnitude about 1e4 times the task's own (stays finite in fp32 for the yardstick or is skipped)
  kShifted,  // large mean, small deviation: breaks single-pass variance
  kEqual,    // all elements of a tensor equal
  kZero,     // zeros
};
inline constexpr InputKind kAllInputKinds[] = {InputKind::kOwn,     InputKind::kNormal, InputKind::kHeavyTail,
                                               InputKind::kInteger, InputKind::kLarge,  InputKind::kShifted,
                                               InputKind::kEqual,   InputKind::kZero};
std::string_view name_of(InputKind kind);  // "own", "normal", "heavy_tail", ...

// The values of one call: what they are like, the seed they follow from, and how they differ from what that
// seed alone gives.
struct InputChoice {
  InputKind kind = InputKind::kOwn;
  std::uint64_t seed = 0;
  Variation variation = {};

  bool operator==(const InputChoice&) const = default;
};

// Fills `destination` (argument.bytes() long) with values of one argument. REQUIRES: its role is not kOutput.
// Arguments with the distribution kInteger, kMask, kFixed, ... keep their constraints under every kind.
// Fast: it runs before every timed batch; about the speed of memory on two threads.
void fill_argument(const BoundArgument& argument, InputKind kind, std::uint64_t seed,
                   std::size_t argument_index, std::span<std::byte> destination);

// Values of argument `index` of a task, its variation applied. REQUIRES: its role is not kOutput.
void fill_chosen(const BoundTask& task, std::size_t index, const InputChoice& choice,
                 std::span<std::byte> destination);

// Integer inputs are exact only up to the first operator that is inexact on integers; this says whether the
// whole graph is exact on kInteger inputs, so that results must be equal bit for bit.
bool exact_on_integers(const BoundTask& task);

}  // namespace kforge

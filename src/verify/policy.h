// The precision policies: how far from the truth a result may be. One list, used everywhere, part of every
// result. Per element the bound is
//   max(tolerance * max(|b|, rms of its row, rms of the tensor), 4 * worst error of the yardstick)
// where b is the fp64 value, a row runs along the last axis, and the yardstick is a plain fp32 program.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace kforge {

struct PrecisionPolicy {
  std::string_view name;
  double tolerance;
  std::string_view what;
};

std::span<const PrecisionPolicy> all_policies();
std::optional<PrecisionPolicy> policy_from_name(std::string_view name);

// How many times the yardstick's own worst error a result may have.
inline constexpr double kYardstickFactor = 4;

}  // namespace kforge

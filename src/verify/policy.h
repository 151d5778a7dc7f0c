// The precision policies: how far from the truth a result may be. One list, used everywhere, part of every
// result. Per element the bound is
//   max(tolerance * max(|b - mean|, deviation of its row, deviation of the tensor), at most as below,
//       tolerance / 10 * |b|,                   the last bits of what hardly varies
//       4 * worst error of the yardstick)       at most 1e-4 of the size of values where it comes from a long
//       sum
// where b is the fp64 value, a row runs along the last axis, deviations are about the tensor's mean, and the
// yardstick is a plain fp32 program. float16 and bfloat16 outputs may besides be off by their own rounding at
// each element; results of Softmax and Exp by no more than a factor of 1 +- 1e-3 each. On constant and
// extreme inputs, where nothing varies as in use, the first two lines are tolerance * max(|b|, rms of its
// row, rms of the tensor), and the last words do not hold.
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

// A measured value with its bootstrap 95 % interval, and the ratio of two times as it is always told: with
// its interval and the name of what it is over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kforge {

struct Interval {
  double value = 0, lo = 0, hi = 0;
};

struct Speedup : Interval {  // paired ratio, over 1 is faster
  std::string against;       // a baseline, or "attempt 3"; always named
};

// A figure whose interval holds 1 is no difference, whichever side of 1 it lies.
enum class Shown : std::uint8_t { kFaster, kSlower, kNoDifference };
inline Shown shown_by(const Interval& ratio) {
  if (ratio.lo > 1) return Shown::kFaster;
  return ratio.hi < 1 ? Shown::kSlower : Shown::kNoDifference;
}
inline std::string_view name_of(Shown shown) {
  return shown == Shown::kFaster ? "faster" : shown == Shown::kSlower ? "slower" : "no_difference";
}

}  // namespace kforge

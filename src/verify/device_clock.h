// Gate "clock" on devices: the device's own clock against the wall's.
#pragma once

#include "execute/timing.h"

namespace kforge {

inline constexpr double kBatchSlackNs =
    200e3;  // what a message takes varies by as much, whatever the batch does

// From the first start to the last end by the device's own clock, against the wall's. Before the first and
// after the last a driver has work of its own, so the device may say somewhat less; more than passed it may
// not.
inline bool device_clock_disagrees(const Sample& sample) {
  if (sample.device_ns <= 0) return false;
  const double waits = sample.delay_ns + sample.team_wait_ns;
  if (sample.device_ns > sample.parent_ns + std::max(0.1 * sample.parent_ns, kBatchSlackNs)) return true;
  return sample.device_ns < 0.5 * sample.parent_ns - 5 * kBatchSlackNs - waits;
}

}  // namespace kforge

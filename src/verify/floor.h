// Gate "floor": no honest program is faster than its compulsory bytes can travel. The floor is a lower bound
// with a margin, so only the impossible is refused; beating the flop bound is possible (algebra) and only
// flagged.
#pragma once

#include "machine/machine.h"
#include "task/task.h"

namespace kforge {

struct TimeFloor {
  double bytes = 0;     // that every program must move in a call
  double bytes_ns = 0;  // at the bandwidth of the smallest cache level that holds them, with the margin
  std::string level;    // that level
  double flops_ns = 0;  // flops of the graph at the machine's peak: may be beaten by algebra
};

// Inputs that only a part of is needed (gathered, sliced, masked) are not counted; nor are params, which
// prepare() may have digested.
TimeFloor time_floor(const BoundTask& task, const Machine& machine, const Peaks& peaks);

inline constexpr double kFloorMargin = 1.5;

}  // namespace kforge

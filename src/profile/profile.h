// Where a measured kernel stands: what it achieved and how near the machine's limits that is. Explains, never times.
#pragma once

#include <string>

#include "machine/machine.h"
#include "task/task.h"

namespace kforge {

struct RooflinePosition {
  std::string bound;      // what limits this task on this machine: "compute", "memory", "L2", ...
  double bound_ns = 0;    // the least time that limit allows
  double fraction = 0;    // bound_ns / measured time; over 1 when algebra saves work
  double gflops = 0;      // achieved
  double gbytes_s = 0;    // achieved, compulsory bytes
};

// With `cold` caches all bytes come from memory; warm ones from the smallest level that holds them.
RooflinePosition roofline_position(const BoundTask& task, const Machine& machine, const Peaks& peaks, double ns, bool cold);

}  // namespace kforge

#include "profile/profile.h"

#include <algorithm>

namespace kforge {
namespace {

// What is written moves at the rate of a copy together with as much that is read; what is read beyond that,
// at the rate of reading alone.
double transfer_time(const GraphCost& cost, const Bandwidth& bandwidth) {
  const double read = cost.compulsory_bytes - cost.written_bytes;
  const double copied = cost.written_bytes > read ? cost.compulsory_bytes : 2 * cost.written_bytes;
  return copied / bandwidth.copy_gb_s + (cost.compulsory_bytes - copied) / bandwidth.read_gb_s;
}

}  // namespace

RooflinePosition roofline_position(const BoundTask& task, const Machine& machine, const Peaks& peaks,
                                   double ns, bool cold) {
  RooflinePosition position;
  double bytes = task.cost.compulsory_bytes, flops = task.cost.flops;
  double compute_ns = peaks.fp32_gflops > 0 ? flops / peaks.fp32_gflops : 0, transfer_ns = 0;
  std::string level = "memory";
  for (const Bandwidth& bandwidth : peaks.bandwidths) {
    bool last = &bandwidth == &peaks.bandwidths.back();
    if (!last && (cold || cache_capacity(machine, bandwidth.level) < bytes)) continue;
    transfer_ns = transfer_time(task.cost, bandwidth);
    level = bandwidth.level;
    break;
  }
  position.bound = compute_ns > transfer_ns ? "compute" : level;
  position.bound_ns = std::max(compute_ns, transfer_ns);
  position.bandwidth_gb_s = transfer_ns > 0 ? bytes / transfer_ns : 0;
  if (ns > 0) {
    position.fraction = position.bound_ns / ns;
    position.gflops = flops / ns;
    position.gbytes_s = bytes / ns;
  }
  return position;
}

}  // namespace kforge

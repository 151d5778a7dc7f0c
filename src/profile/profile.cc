#include "profile/profile.h"

#include <algorithm>

namespace kforge {

RooflinePosition roofline_position(const BoundTask& task, const Machine& machine, const Peaks& peaks,
                                   double ns, bool cold) {
  RooflinePosition position;
  double bytes = task.cost.compulsory_bytes, flops = task.cost.flops;
  double compute_ns = peaks.fp32_gflops > 0 ? flops / peaks.fp32_gflops : 0, transfer_ns = 0;
  std::string level = "memory";
  for (const Bandwidth& bandwidth : peaks.bandwidths) {
    bool last = &bandwidth == &peaks.bandwidths.back();
    if (!last && (cold || cache_capacity(machine, bandwidth.level) < bytes)) continue;
    transfer_ns = bytes / std::max(bandwidth.read_gb_s, bandwidth.copy_gb_s);
    level = bandwidth.level;
    break;
  }
  position.bound = compute_ns > transfer_ns ? "compute" : level;
  position.bound_ns = std::max(compute_ns, transfer_ns);
  if (ns > 0) {
    position.fraction = position.bound_ns / ns;
    position.gflops = flops / ns;
    position.gbytes_s = bytes / ns;
  }
  return position;
}

}  // namespace kforge

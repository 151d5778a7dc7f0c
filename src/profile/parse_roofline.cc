// Facts from the verdict alone: no command is run.
#include <algorithm>

#include "profile/parsers.h"

namespace kforge {

bool parse_roofline(const Said& said, Findings& findings) {
  const ProfileInput& input = *findings.input;
  auto fact = [&](std::string_view name, double value, std::string_view unit) {
    findings.fact(name, value, unit, said.profiler);
  };
  fact("threads", input.threads, "");
  if (input.thread_use > 0) fact("thread_use", input.thread_use, "");
  if (!input.task || !input.machine || !input.peaks) return true;
  double ns = input.time_ns.value_or(0);
  RooflinePosition place = roofline_position(*input.task, *input.machine, *input.peaks, ns, input.cold);
  fact("roofline_us", place.bound_ns / 1e3, "us");
  fact("intensity", input.task->cost.intensity(), "flop/byte");
  fact("peak_gflops", input.peaks->fp32_gflops, "GFLOP/s");
  if (place.bandwidth_gb_s > 0) fact("peak_gb_s", place.bandwidth_gb_s, "GB/s");
  if (ns <= 0) return true;
  fact("time_us", ns / 1e3, "us");
  fact("roofline_fraction", place.fraction, "");
  fact("achieved_gflops", place.gflops, "GFLOP/s");
  fact("achieved_gb_s", place.gbytes_s, "GB/s");
  return true;
}

}  // namespace kforge

// Where a measured kernel stands: what it achieved and how near the machine's limits that is. Explains, never
// times.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"
#include "task/task.h"

namespace kforge {

struct RooflinePosition {
  std::string bound;          // what limits this task on this machine: "compute", "memory", "L2", ...
  double bound_ns = 0;        // the least time that limit allows
  double fraction = 0;        // bound_ns / measured time; over 1 when algebra saves work
  double gflops = 0;          // achieved
  double gbytes_s = 0;        // achieved, compulsory bytes
  double bandwidth_gb_s = 0;  // of the level the bytes come from, for this share of reads and writes
};

// One figure about a kernel, and who says so.
struct Fact {
  std::string name;  // "vector_width_bits", "l1_miss_rate"
  double value = 0;
  std::string unit;    // "%", "GB/s", ""
  std::string source;  // profiler's name
};

// Remarks, a listing, a table: text as a tool gave it, trimmed.
struct ProfileText {
  std::string title, text, source;
};

// A picture of a tool's window.
struct ProfilePicture {
  std::string title, source;
  std::string png;  // bytes
};

// What is known about why a kernel takes the time it takes.
struct Profile {
  std::vector<Fact> facts;
  std::vector<ProfileText> texts;
  std::vector<ProfilePicture> pictures;
  std::vector<std::string> absent;  // "perf: no counters on this machine"
};

// With `cold` caches all bytes come from memory; warm ones from the smallest level that holds them.
RooflinePosition roofline_position(const BoundTask& task, const Machine& machine, const Peaks& peaks,
                                   double ns, bool cold);

}  // namespace kforge

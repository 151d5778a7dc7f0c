// What a device says of itself when it is opened: shown by `kforge platforms`, and what plans are checked
// against.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

struct DeviceFacts {
  std::string api;      // "opencl"
  std::string name;     // "pthread-skylake-avx512-AMD EPYC"
  std::string version;  // of the interface: "OpenCL 3.0 PoCL 3.1"
  std::string driver;   // and of what drives it: "3.1"
  std::string type;     // "cpu", "gpu" or "other"
  std::uint32_t compute_units = 0;
  std::uint32_t most_threads = 0;  // of one block
  std::uint64_t shared_bytes = 0;  // of one block
  std::uint64_t memory_bytes = 0;
  std::uint64_t largest_buffer = 0;
  std::uint32_t alignment = 0;  // bytes: where the part of a buffer that a kernel is given may begin
  std::vector<std::uint32_t> sub_groups;  // sizes; empty: the interface does not say
  bool fp16 = false, fp64 = false;
  bool denormals = true;     // kept, not flushed to zero
  bool nonfinite = true;     // NaN and infinities are those of IEEE 754
  double clock_tick_ns = 0;  // of the device's own clock; 0: it has none

  // The processor KForge runs on: its libraries are fair opponents, its bandwidth is the device's.
  bool this_processor() const { return type == "cpu"; }
  std::string text() const;  // one line for people
};

std::string to_json(const DeviceFacts& facts);
Result<DeviceFacts> facts_from_json(std::string_view text);

}  // namespace kforge

// Programs for devices.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "smith/device/device_language.h"
#include "smith/graph/problem.h"

namespace kforge::smith {

// A program for a device: source with its kernels, and the plan that launches them.
struct DeviceDesign {
  std::string file;      // "kernel.cl"
  std::string source;    // needs nothing else
  std::string plan;      // JSON: buffers, prepare, run
  std::string schedule;  // JSON, as of Design
  std::string summary;
};

// What may be chosen about it.
struct DeviceChoices {
  int block = 256;  // threads of a workgroup, at most; tiles keep theirs
};
inline constexpr int kDeviceBlocks[] = {256, 128, 64, 32};

// A program for a device, with threads, workgroups and shared memory chosen from the shapes.
Result<DeviceDesign> device_design(const Problem& problem, DeviceLanguage language,
                                   const DeviceChoices& choices = {});
// The choices that a design's schedule names; nothing for a text that is none.
std::optional<DeviceChoices> choices_of(std::string_view schedule);

}  // namespace kforge::smith

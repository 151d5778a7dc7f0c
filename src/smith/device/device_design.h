// Programs for devices.
#pragma once

#include <string>

#include "base/result.h"
#include "smith/device/device_choices.h"
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

// A program for a device, with threads, workgroups and shared memory chosen from the shapes.
Result<DeviceDesign> device_design(const Problem& problem, DeviceLanguage language,
                                   const DeviceChoices& choices = {});

}  // namespace kforge::smith

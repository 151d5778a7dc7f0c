// A device program made ready to run: what kforge-device is given, in one file. The plan travels as its text
// with what it was read with, so that there is one reader of plans.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/launch_plan.h"

namespace kforge {

struct DeviceSource {
  std::string name, content;
};

struct DevicePackage {
  std::string api;                  // "opencl"
  std::vector<DeviceSource> files;  // the main file first; without plan.json
  PlanSymbols macros;
  std::string plan;
  PlanSetting setting;
  // What was compiled: by the name of the kernel (SPIR-V), or under "" for all of them (an OpenCL binary).
  std::map<std::string, std::string> binaries;

  // The macros as lines of the source, and the main file's first line behind them.
  std::string prelude() const;
};

std::string to_bytes(const DevicePackage& package);
Result<DevicePackage> package_from(std::string_view bytes);

}  // namespace kforge

// A design on a device, through the drivers that kforge-device uses, in this process.
#pragma once

#include "device/device_api.h"
#include "judged.h"
#include "smith/smith.h"

namespace kforge {

// Calling it copies arguments in, follows `prepare` and `run` of the plan, and copies results out; the test
// fails where the device refuses something, or a guard zone was written to. `binaries` as in DevicePackage.
// REQUIRES: `api` outlives it, and builds nothing else meanwhile.
Result<AnyCall> driven(DeviceApi& api, const smith::Problem& problem, const smith::DeviceDesign& design,
                       std::map<std::string, std::string> binaries = {});

// SPIR-V of every kernel of the plan, by the kernel's name.
Result<std::map<std::string, std::string>> spirv_of(const smith::DeviceDesign& design,
                                                    const std::string& folder);

}  // namespace kforge

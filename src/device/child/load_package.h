// What kforge-device is given, read as it was written.
#pragma once

#include "device/device_package.h"
#include "device/launch_plan.h"

namespace kforge {

Result<DevicePackage> read_package(const char* path);
Result<LaunchPlan> plan_of(const DevicePackage& package);

}  // namespace kforge

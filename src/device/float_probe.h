// What a device's arithmetic does with denormals, NaN and infinities: found out by a kernel, because drivers
// promise less than they do, and some do less than they promise. Gates relax by it (docs/gates.md).
#pragma once

#include "device/device_api.h"

namespace kforge {

// Runs the kernel and sets facts.denormals and facts.nonfinite. An Error: the device opens, and runs nothing.
Result<void> probe_floats(DeviceApi& api, DeviceFacts& facts);

}  // namespace kforge

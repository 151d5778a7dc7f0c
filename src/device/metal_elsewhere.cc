// Metal where there is none: metal_device.mm is for macOS.
#include "device/device_api.h"

namespace kforge {

Result<std::unique_ptr<DeviceApi>> open_metal() { return fail("Metal is there on macOS only"); }

}  // namespace kforge

#include "device/device_api.h"

namespace kforge {

Result<std::unique_ptr<DeviceApi>> open_vulkan() {
  return fail("this version of KForge drives no Vulkan devices");
}

}  // namespace kforge

#include "platform/platform.h"

#include <fmt/core.h>

#include <sys/utsname.h>

namespace kforge {
namespace {

// What this machine calls itself: "x86_64".
const std::string& this_machine() {
  static const std::string name = [] {
    utsname system{};
    ::uname(&system);
    return std::string(system.machine);
  }();
  return name;
}

}  // namespace

std::string_view name_of(PlatformKind kind) {
  switch (kind) {
    case PlatformKind::kNative:
      return "native";
    case PlatformKind::kDevice:
      return "device";
    case PlatformKind::kCommand:
      return "command";
  }
  return "unknown";
}

std::string_view name_of(Objective objective) { return objective == Objective::kModel ? "model" : "time"; }

std::string_view name_of(DeviceDriver driver) {
  switch (driver) {
    case DeviceDriver::kOpenCl:
      return "opencl";
    case DeviceDriver::kVulkan:
      return "vulkan";
    case DeviceDriver::kCuda:
      return "cuda";
    case DeviceDriver::kMetal:
      return "metal";
  }
  return "unknown";
}

std::string_view name_of(Readiness::State state) {
  switch (state) {
    case Readiness::State::kReady:
      return "ready";
    case Readiness::State::kEmulated:
      return "emulated";
    case Readiness::State::kMissing:
      return "missing";
  }
  return "unknown";
}

std::string CostModel::label() const {
  return fmt::format("{} {}{}", command.name, version, chip ? ", " + chip->name : "");
}

bool Platform::emulated() const {
  return emulates_device() || (!run.machine.empty() && run.machine != this_machine());
}

bool Platform::has_emulator() const {
  return kind == PlatformKind::kDevice &&
         (run.driver == DeviceDriver::kCuda || run.driver == DeviceDriver::kMetal);
}

const std::vector<std::string>& Platform::prefix_here() const {
  static const std::vector<std::string> nothing;
  return run.machine.empty() || emulated() ? run.prefix : nothing;
}

std::vector<std::filesystem::path> Platform::readable() const {
  std::vector<std::filesystem::path> paths = sandbox.read;
  std::error_code ignored;
  // Where there is an emulator, a device that is not there is no mistake.
  for (const std::filesystem::path& device : sandbox.devices)
    if (!has_emulator() || std::filesystem::exists(device, ignored)) paths.push_back(device);
  return paths;
}

}  // namespace kforge

#include "device/child/load_package.h"

#include "base/files.h"

namespace kforge {
namespace {

constexpr std::size_t kLargestPackage = 256 << 20;

}  // namespace

Result<DevicePackage> read_package(const char* path) {
  KF_TRY(std::string bytes, read_file(path, kLargestPackage));
  return package_from(bytes);
}

Result<LaunchPlan> plan_of(const DevicePackage& package) {
  auto plan = read_launch_plan(package.plan, package.setting);
  if (!plan) return fail("{}", plan.error().log);
  return std::move(*plan);
}

}  // namespace kforge

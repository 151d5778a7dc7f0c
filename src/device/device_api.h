// What KForge needs of an interface to devices. One file per interface implements it; kforge-device is the
// only program that uses one, inside the sandbox: a driver that crashes or hangs takes nothing else with it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/failure.h"
#include "base/result.h"
#include "device/device_facts.h"
#include "device/device_package.h"
#include "device/launch_plan.h"

namespace kforge {

// One allocation on the device. Transfers are complete when the functions return.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual Result<void> write(std::size_t offset, std::span<const std::byte> from) = 0;
  virtual Result<void> read(std::size_t offset, std::span<std::byte> to) const = 0;
};

// Where a memory of the plan lies: `offset` into an allocation.
struct PlacedMemory {
  DeviceMemory* memory = nullptr;
  std::size_t offset = 0, bytes = 0;
};

// Steps with the memory they work on, ready to be submitted as often as wanted.
class DeviceCall {
 public:
  virtual ~DeviceCall() = default;
};

class DeviceApi {
 public:
  virtual ~DeviceApi() = default;

  virtual const DeviceFacts& facts() const = 0;
  // Makes the plan's kernels, from the package's binaries where they are there; gives what the compiler said.
  // CompileError: the candidate's mistake. With `check` each launch is compared with its kernel's own
  // signature, and `package.binaries` gets what was compiled, where the interface gives it.
  virtual Step<std::string> build(DevicePackage& package, const LaunchPlan& plan, bool check) = 0;
  virtual Result<std::unique_ptr<DeviceMemory>> allocate(std::size_t bytes) = 0;
  // The same on these pages of the process, where the device is the processor and can; else null. REQUIRES:
  // whole pages that outlive it.
  virtual Result<std::unique_ptr<DeviceMemory>> allocate_on([[maybe_unused]] std::span<std::byte> pages) {
    return nullptr;
  }
  // `memory` by the plan's numbers. Each step begins when the one before it has ended.
  virtual Result<std::unique_ptr<DeviceCall>> record(const LaunchPlan& plan,
                                                     const std::vector<PlanStep>& steps,
                                                     const std::vector<PlacedMemory>& memory) = 0;
  // Calls run in the order submitted, each when the one before it has ended.
  virtual Result<void> submit(DeviceCall& call) = 0;
  // Waits for all that was submitted. The device's own time from the first start to the last end since the
  // last finish(); 0 where it has no clock.
  virtual Result<std::uint64_t> finish() = 0;
};

// Opens the first device of that interface that can compute. An Error says what is missing.
Result<std::unique_ptr<DeviceApi>> open_device(std::string_view api);  // "opencl", "vulkan", "cuda", "metal"
Result<std::unique_ptr<DeviceApi>> open_opencl();
Result<std::unique_ptr<DeviceApi>> open_vulkan();
Result<std::unique_ptr<DeviceApi>> open_cuda();
Result<std::unique_ptr<DeviceApi>> open_metal();

// The bytes of one element with that value, 1 to 8 of them.
std::vector<std::byte> element_bytes(DType dtype, double value);
// A scalar as kernels take it, 4 or 8 of them.
std::vector<std::byte> scalar_bytes(const PlanScalar& scalar);

}  // namespace kforge

// One device program in memory: every slot's tensors and the plan's own buffers on the device, each between
// guard zones. The arenas of runner/protocol.h are what is copied to and from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/device_api.h"

namespace kforge {

// Where the parent's memory of a tensor lies in this process.
class HostTensors {
 public:
  virtual ~HostTensors() = default;
  virtual std::span<std::byte> data(std::size_t tensor, std::uint32_t slot) const = 0;
};

class DeviceRun {
 public:
  // REQUIRES: `plan` was read with `setting`, its kernels are built, and all outlive this.
  DeviceRun(DeviceApi& api, const LaunchPlan& plan, const PlanSetting& setting, const HostTensors& host,
            std::uint32_t slots);

  bool has_prepare() const { return !plan_.prepare.empty(); }
  // Params to the device, and the plan's `prepare` on them. What it used lives until the next one.
  Result<void> prepare();
  Result<void> upload(std::span<const std::uint32_t> slots);
  // REQUIRES: the slots were uploaded. Gives the device's own time.
  Result<std::uint64_t> call(std::span<const std::uint32_t> slots);
  // What was written that may not be, in words; nothing when all is as it must be.
  Result<std::optional<std::string>> download(std::span<const std::uint32_t> slots);

 private:
  struct Guarded {
    std::unique_ptr<DeviceMemory> memory;
    std::size_t bytes = 0;
    std::uint64_t values = 0;  // fingerprint of what it must still hold after a call, where that is known
  };
  struct Slot {
    std::vector<Guarded> tensors;  // by the plan's numbers; empty where a tensor is a param
    std::unique_ptr<DeviceCall> call;
  };
  using Buffers = std::map<std::size_t, Guarded>;  // of the plan, by its numbers

  Result<Guarded> allocate(std::size_t bytes);
  Result<void> upload_params();
  Result<void> open_slot(std::uint32_t slot);
  Result<std::vector<PlacedMemory>> places(const Slot* slot, Buffers& own);
  Result<void> poison(std::size_t buffer, const Guarded& at);
  Buffers& own_buffers(std::uint32_t slot) { return own_[slot % own_.size()]; }
  Result<std::optional<std::string>> broken_guard(const std::string& name, const Guarded& at) const;
  Result<void> fill(Guarded& at, std::span<const std::byte> from);
  // Guard zones, and the values of what may only be read; `why` says why it may not be written.
  Result<std::optional<std::string>> broken(std::size_t memory, const Guarded& at, const char* why) const;
  Result<std::uint64_t> fingerprint(const Guarded& at) const;

  DeviceApi& api_;
  const LaunchPlan& plan_;
  const PlanSetting& setting_;
  const HostTensors& host_;
  std::vector<std::byte> guard_;  // what guard zones hold
  std::map<std::size_t, Guarded> params_;
  Buffers prepared_;          // of the plan: live until the next prepare
  std::vector<Buffers> own_;  // private to a call: as many sets as fit, so that the calls of a batch
                              // find nothing of each other
  std::vector<Slot> slots_;
};

}  // namespace kforge

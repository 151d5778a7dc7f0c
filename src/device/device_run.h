// One device program in memory: every slot's tensors and the plan's own buffers on the device, each between
// guard zones. The arenas of runner/protocol.h are what is copied to and from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/device_api.h"
#include "runner/protocol.h"

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
  Result<void> download(std::span<const std::uint32_t> slots);

  bool guarded() const { return !guard_.empty(); }
  // What guard zones hold; else what this process draws. REQUIRES: nothing was allocated yet.
  void set_guard(std::span<const std::byte> guard) { guard_.assign(guard.begin(), guard.end()); }
  // Pages that other programs use too, each in its turn: what lives in them from an upload to the download
  // after it is the same memory for all of them, and none is faster for where it lies. A tensor of a slot has
  // one place in them, whatever else a program has and in which order its slots are used. Where the device
  // can; see DeviceApi::allocate_on. REQUIRES: the guard is set, and nothing was allocated yet.
  void share(std::span<std::byte> pages);
  // Device memory besides the outputs, into a window (runner/protocol.h): of these slots and of all buffers,
  // or with no slots what was prepared. False: that was all; else the next window goes on.
  Result<bool> show(std::span<const std::uint32_t> slots, bool from_start, std::span<std::byte> window);

 private:
  struct Guarded {
    std::unique_ptr<DeviceMemory> memory;
    std::size_t bytes = 0;
    bool shared = false;  // with other programs: its guard zones are written anew for each upload
  };
  // A stretch of memory that is to be shown.
  struct Stretch {
    const Guarded* memory = nullptr;
    KforgeShownRow row{};
    std::size_t offset = 0;  // into the allocation
  };
  struct Slot {
    std::vector<Guarded> tensors;  // by the plan's numbers; empty where a tensor is a param
    std::unique_ptr<DeviceCall> call;
  };
  using Buffers = std::map<std::size_t, Guarded>;  // of the plan, by its numbers

  enum class Lives : std::uint8_t { kOneCall, kOn };
  // `place`: in the shared pages, for what lives for one call.
  Result<Guarded> allocate(std::size_t bytes, Lives lives, std::size_t place);
  std::size_t pages_of(std::size_t bytes) const;
  std::size_t place_of_tensor(std::size_t tensor, std::uint32_t slot) const;
  std::size_t place_of_buffer(std::size_t buffer, std::size_t set) const;
  Result<void> write_guards(const Guarded& at) const;
  Result<void> upload_params();
  Result<void> open_slot(std::uint32_t slot);
  Result<std::vector<PlacedMemory>> places(const Slot* slot, std::size_t set);
  Result<void> poison(std::size_t buffer, const Guarded& at);
  void add_stretches(std::size_t memory, const Guarded& at, std::uint32_t slot, bool values);

  DeviceApi& api_;
  const LaunchPlan& plan_;
  const PlanSetting& setting_;
  const HostTensors& host_;
  std::vector<std::byte> guard_;  // what guard zones hold
  std::span<std::byte> shared_;
  std::vector<std::size_t> place_;  // by the plan's numbers: in the params, in a slot, in a set of buffers
  std::size_t params_pages_ = 0, slot_pages_ = 0, set_pages_ = 0;  // bytes of each of them
  std::map<std::size_t, Guarded> params_;
  Buffers prepared_;          // of the plan: live until the next prepare
  std::vector<Buffers> own_;  // private to a call: as many sets as fit, so that the calls of a batch
                              // find nothing of each other
  std::vector<Slot> slots_;
  std::vector<Stretch> to_show_;  // what is left, the next one last
};

}  // namespace kforge

// The shared memory through which tensors travel: params and inputs sealed against the contender, outputs
// writable; every instance between canaries and guard pages (layout: runner/protocol.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "runner/protocol.h"
#include "task/task.h"

namespace kforge {

class Arenas {
 public:
  // Room for `slots` calls' worth of every tensor of the task.
  static Result<Arenas> create(const BoundTask& task, std::uint32_t slots);

  std::uint32_t slots() const { return slots_; }
  const std::vector<KforgeArgumentRow>& rows() const { return rows_; }
  int fd(KforgeArena arena) const { return files_[arena].get(); }
  std::size_t total_bytes() const;

  // The parent's writable view of one instance (params: slot 0).
  std::span<std::byte> tensor(std::size_t argument, std::uint32_t slot) const;

  // Outputs get a pattern that no honest result has everywhere (signalling for floats: NaN), canaries are set anew.
  void poison_outputs(std::uint32_t slot, std::uint64_t seed) const;
  // Name of the first argument whose canary was touched in this slot, with the offset, or nothing.
  std::optional<std::string> broken_canary(std::uint32_t slot) const;

 private:
  std::uint32_t slots_ = 0;
  std::vector<std::string> names_;
  std::vector<KforgeArgumentRow> rows_;
  Fd files_[3];
  Mapping maps_[3];
};

}  // namespace kforge

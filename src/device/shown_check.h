// Gate "memory" on devices, in the parent: what a device program's memory holds around and besides its
// outputs, as its child shows it (runner/protocol.h), against what it must. The child is one process with a
// driver and perhaps the candidate's own code: it copies, and judges nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runner/protocol.h"

namespace kforge {

class ShownCheck {
 public:
  struct Tensor {
    std::string name;
    std::size_t bytes = 0;
    bool param = false;
    bool output = false;  // outputs and inouts: only their guard zones are compared
  };
  // `guard`: KFORGE_GUARD_BYTES.
  ShownCheck(std::vector<Tensor> tensors, std::vector<std::byte> guard);

  const std::vector<std::byte>& guard() const { return guard_; }
  // Values of an input or param as they were handed over. REQUIRES: slot 0 for params.
  void note(std::size_t tensor, std::uint32_t slot, std::span<const std::byte> values);

  // Before the first window of an answer; `after_prepare`: what prepare made is learned, not compared.
  void begin(bool after_prepare);
  // One window. What is wrong in words; nothing when all is as it must be.
  std::optional<std::string> look(std::span<const std::byte> window);
  // After the last window: whether everything of these slots was shown.
  std::optional<std::string> end(std::span<const std::uint32_t> slots);

 private:
  struct Place {
    std::int32_t tensor = -1;
    std::uint32_t slot = 0;
    std::string name;  // of a buffer
    auto operator<=>(const Place&) const = default;
  };
  struct Seen {
    std::uint64_t bytes = 0, print = 0;
    int guards = 0;
    bool prepared = false;
  };
  std::optional<std::string> look_at(const KforgeShownRow& row, std::span<const std::byte> bytes);
  std::optional<std::string> compare(const Place& place, const Seen& seen) const;
  std::string name_of(const Place& place) const;

  std::vector<Tensor> tensors_;
  std::vector<std::byte> guard_;
  std::map<Place, std::uint64_t> expected_;  // fingerprints of inputs, params and what prepare made
  std::map<Place, Seen> seen_;
  bool after_prepare_ = false;
};

}  // namespace kforge

#include "device/shown_check.h"

#include <fmt/format.h>

#include <cstring>

namespace kforge {
namespace {

constexpr std::uint64_t kEmptyPrint = 1469598103934665603u;

// REQUIRES: all but the last part are of whole words.
std::uint64_t add_to_print(std::uint64_t value, std::span<const std::byte> bytes) {
  std::size_t i = 0;
  for (std::uint64_t word; i + sizeof word <= bytes.size(); i += sizeof word) {
    std::memcpy(&word, bytes.data() + i, sizeof word);
    value = (value ^ word) * 1099511628211u;
    value ^= value >> 29;
  }
  for (; i < bytes.size(); ++i) value = (value ^ static_cast<std::uint64_t>(bytes[i])) * 1099511628211u;
  return value;
}

}  // namespace

ShownCheck::ShownCheck(std::vector<Tensor> tensors, std::vector<std::byte> guard)
    : tensors_(std::move(tensors)), guard_(std::move(guard)) {}

void ShownCheck::note(std::size_t tensor, std::uint32_t slot, std::span<const std::byte> values) {
  expected_[{static_cast<std::int32_t>(tensor), slot, ""}] = add_to_print(kEmptyPrint, values);
}

void ShownCheck::begin(bool after_prepare) {
  after_prepare_ = after_prepare;
  seen_.clear();
}

std::string ShownCheck::name_of(const Place& place) const {
  return place.tensor >= 0 ? tensors_[static_cast<std::size_t>(place.tensor)].name : place.name;
}

std::optional<std::string> ShownCheck::look(std::span<const std::byte> window) {
  constexpr const char* kUnreadable = "what the device program's process shows of its memory cannot be read";
  std::uint64_t rows = 0;
  if (window.size() < sizeof(KforgeShown)) return kUnreadable;
  std::memcpy(&rows, window.data(), sizeof rows);
  if (rows > KFORGE_MAX_SHOWN_ROWS) return kUnreadable;
  for (std::uint64_t i = 0; i < rows; ++i) {
    KforgeShownRow row;
    std::memcpy(&row, window.data() + offsetof(KforgeShown, row) + i * sizeof row, sizeof row);
    const bool known =
        row.tensor == -1 || (row.tensor >= 0 && static_cast<std::size_t>(row.tensor) < tensors_.size());
    if (!known || row.at < sizeof(KforgeShown) || row.at > window.size() ||
        row.bytes > window.size() - row.at)
      return kUnreadable;
    row.name[sizeof row.name - 1] = '\0';
    if (auto broken = look_at(row, window.subspan(row.at, row.bytes))) return broken;
  }
  return std::nullopt;
}

std::optional<std::string> ShownCheck::look_at(const KforgeShownRow& row, std::span<const std::byte> bytes) {
  const Place place{row.tensor, row.slot, row.tensor < 0 ? row.name : ""};
  Seen& seen = seen_.try_emplace(place, Seen{0, kEmptyPrint, 0, row.prepared != 0}).first->second;
  if (row.part == KFORGE_SHOWN_VALUES) {
    if (row.first != seen.bytes)
      return fmt::format("the values of {} are not shown in order", name_of(place));
    seen.print = add_to_print(seen.print, bytes);
    seen.bytes += row.bytes;
    return std::nullopt;
  }
  const bool before = row.part == KFORGE_SHOWN_BEFORE;
  if (bytes.size() != guard_.size() || (!before && row.part != KFORGE_SHOWN_AFTER))
    return fmt::format("the guard zones of {} are not shown", name_of(place));
  ++seen.guards;
  if (std::memcmp(bytes.data(), guard_.data(), guard_.size()) == 0) return std::nullopt;
  // The nearest byte to the memory: that is where an index went wrong.
  std::size_t at = before ? guard_.size() - 1 : 0;
  while (bytes[at] == guard_[at]) before ? --at : ++at;
  return before ? fmt::format("the program wrote {} bytes before the start of {}", guard_.size() - at,
                              name_of(place))
                : fmt::format("the program wrote {} bytes past the end of {}", at + 1, name_of(place));
}

std::optional<std::string> ShownCheck::compare(const Place& place, const Seen& seen) const {
  const auto wanted = expected_.find(place);
  if (wanted == expected_.end() || wanted->second == seen.print) return std::nullopt;
  return fmt::format("the program wrote to {}, which {}", name_of(place),
                     place.tensor >= 0 ? "is read-only" : "prepare made and run may only read");
}

std::optional<std::string> ShownCheck::end(std::span<const std::uint32_t> slots) {
  for (const auto& [place, seen] : seen_) {
    if (after_prepare_ && place.tensor < 0 && seen.prepared) expected_[place] = seen.print;
    const bool values =
        place.tensor < 0 ? seen.prepared : !tensors_[static_cast<std::size_t>(place.tensor)].output;
    if (auto broken = values ? compare(place, seen) : std::nullopt) return broken;
  }
  if (after_prepare_) return std::nullopt;
  auto shown = [&](std::size_t i, std::uint32_t slot) {
    const auto found = seen_.find({static_cast<std::int32_t>(i), slot, ""});
    return found != seen_.end() && found->second.guards >= 2 &&
           (tensors_[i].output || found->second.bytes == tensors_[i].bytes);
  };
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    for (const std::uint32_t slot : slots)
      if (!shown(i, tensors_[i].param ? 0 : slot))
        return fmt::format("the memory of {} was not shown after a call", tensors_[i].name);
  // And what prepare made, as long as it was there before.
  for (const auto& [place, print] : expected_)
    if (place.tensor < 0 && !seen_.contains(place))
      return fmt::format("the memory of {} was not shown after a call", place.name);
  return std::nullopt;
}

}  // namespace kforge

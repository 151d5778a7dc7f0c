#include "smith/device/device_choices.h"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kforge::smith {
namespace {

// A kernel has at most 16 KB of shared memory: what every device has.
bool fits(const DeviceChoices& c) { return 4 * c.depth * 2 * (16 * c.sums + c.pad) <= 16 << 10; }

// The value at `key`, where it is one of those that may be chosen; a schedule without it has the first.
template <std::size_t n>
bool read(const nlohmann::json& json, const char* key, const int (&known)[n], int& value) {
  if (!json.contains(key)) return true;
  if (!json[key].is_number_integer()) return false;
  value = json[key];
  return std::ranges::find(known, value) != std::end(known);
}

}  // namespace

std::vector<DeviceMove> device_moves(const DeviceChoices& from) {
  std::vector<DeviceMove> moves;
  auto add = [&](int DeviceChoices::*field, int value, const char* tag, std::string name) {
    DeviceChoices to = from;
    to.*field = value;
    if (to != from && fits(to)) moves.push_back({to, tag, std::move(name)});
  };
  for (const int pad : kDevicePads)
    add(&DeviceChoices::pad, pad, "pack",
        fmt::format("rows of tiles padded by {}: a column of a tile lies in different banks", pad));
  for (const int sums : kDeviceSums)
    add(&DeviceChoices::sums, sums, "tile",
        fmt::format("{0} x {0} sums in a thread: what is loaded is used so often, at the price of registers",
                    sums));
  for (const int items : kDeviceItems)
    add(&DeviceChoices::items, items, "unroll",
        fmt::format("{} elements in a thread: more loads under way, fewer threads", items));
  for (const int block : kDeviceBlocks)
    add(&DeviceChoices::block, block, "parallelize",
        fmt::format(
            "workgroups of at most {} threads: fewer threads meet at a barrier, more groups share the device",
            block));
  for (const int depth : kDeviceDepths)
    add(&DeviceChoices::depth, depth, "tile",
        fmt::format("{} elements of the depth at a time: fewer barriers, or less shared memory", depth));
  return moves;
}

std::optional<DeviceChoices> choices_of(std::string_view schedule) {
  const auto json = nlohmann::json::parse(schedule, nullptr, false);
  if (!json.is_object() || !json.contains("block")) return std::nullopt;
  DeviceChoices c;
  const bool known = read(json, "block", kDeviceBlocks, c.block) && read(json, "sums", kDeviceSums, c.sums) &&
                     read(json, "depth", kDeviceDepths, c.depth) && read(json, "pad", kDevicePads, c.pad) &&
                     read(json, "items", kDeviceItems, c.items);
  return known && fits(c) ? std::optional(c) : std::nullopt;
}

}  // namespace kforge::smith

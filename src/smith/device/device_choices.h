// What may be chosen about a program for a device, and how one choice is changed at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kforge::smith {

struct DeviceChoices {
  int block = 256;  // threads of a workgroup, at most; tiles keep theirs
  int sums = 4;     // a thread's sums along each side of a tile, at most: a tile is 16 times as wide
  int depth = 16;   // of a tile: elements that pass through shared memory at a time
  int pad = 0;      // elements behind each row of a tile, so that a column lies in different banks
  int items = 1;    // elements of a thread, where threads have one each

  bool operator==(const DeviceChoices&) const = default;
};

// In the order in which they are tried.
inline constexpr int kDeviceBlocks[] = {256, 128, 64, 32};
inline constexpr int kDeviceSums[] = {4, 8, 2};
inline constexpr int kDeviceDepths[] = {16, 8, 32};
inline constexpr int kDevicePads[] = {0, 1};
inline constexpr int kDeviceItems[] = {1, 2, 4};

// One choice changed, with the kind of change as advice names it.
struct DeviceMove {
  DeviceChoices choices;
  std::string tag, name;  // "pack", "tiles padded by 1 ..."
};
std::vector<DeviceMove> device_moves(const DeviceChoices& from);

// The choices that a design's schedule names; nothing for a text that is none.
std::optional<DeviceChoices> choices_of(std::string_view schedule);

}  // namespace kforge::smith

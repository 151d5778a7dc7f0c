// The builds of one program.
#pragma once

#include <cstdint>
#include <string_view>

namespace kforge::emulate {

enum class Variant : std::uint8_t {
  kFast,   // optimised, all processors
  kAsan,   // every access is looked at for its bounds
  kCheck,  // and for races, on one processor; counts memory traffic
  kCount,  // as kAsan, and counts what some blocks do: instructions, memory traffic, barriers
};
std::string_view name_of(Variant variant);  // "fast", "asan", "check", "count"
inline bool looks(Variant variant) { return variant != Variant::kFast; }

}  // namespace kforge::emulate

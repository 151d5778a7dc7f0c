#include "verify/gate.h"

#include <algorithm>
#include <iterator>

namespace kforge {
namespace {

constexpr std::string_view kNames[] = {"passed", "failed", "skipped", "flagged"};

}  // namespace

std::string_view name_of(GateState state) { return kNames[static_cast<std::size_t>(state)]; }

std::optional<GateState> gate_state_from_name(std::string_view name) {
  auto found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<GateState>(found - std::begin(kNames));
}

}  // namespace kforge

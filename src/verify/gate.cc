#include "verify/gate.h"

namespace kforge {

std::string_view name_of(GateState state) {
  static constexpr std::string_view kNames[] = {"passed", "failed", "skipped", "flagged"};
  return kNames[static_cast<std::size_t>(state)];
}

}  // namespace kforge

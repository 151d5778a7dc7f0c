#include "search/ending.h"

#include <algorithm>
#include <iterator>

namespace kforge {
namespace {

constexpr std::string_view kNames[] = {"attempts",  "seconds",     "tokens",   "dollars",
                                       "target",    "verified",    "roofline", "no_gain",
                                       "exhausted", "interrupted", "service"};
static_assert(std::size(kNames) == static_cast<std::size_t>(Ending::kService) + 1);

}  // namespace

std::string_view name_of(Ending ending) { return kNames[static_cast<std::size_t>(ending)]; }

std::optional<Ending> ending_from_name(std::string_view name) {
  auto found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Ending>(found - std::begin(kNames));
}

}  // namespace kforge

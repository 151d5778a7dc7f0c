#include "base/outcome.h"

#include <algorithm>
#include <iterator>

namespace kforge {
namespace {

constexpr std::string_view kNames[] = {"passed",         "no_program",  "compile_error", "crash",
                                       "timeout",        "wrong_shape", "wrong_value",   "rejected",
                                       "not_verifiable", "slower",      "overturned"};
static_assert(std::size(kNames) == static_cast<std::size_t>(Outcome::kOverturned) + 1);

}  // namespace

std::string_view name_of(Outcome outcome) { return kNames[static_cast<std::size_t>(outcome)]; }

std::optional<Outcome> outcome_from_name(std::string_view name) {
  auto found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Outcome>(found - std::begin(kNames));
}

}  // namespace kforge

// Why the search of a run ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kforge {

enum class Ending : std::uint8_t {
  kAttempts,  // of the budget, whichever was used up first
  kSeconds,
  kTokens,
  kDollars,
  kTarget,       // --target was surely reached
  kVerified,     // --check asks for no more than a program that passes
  kRoofline,     // as fast as the machine allows
  kNoGain,       // many attempts in a row brought nothing
  kExhausted,    // the generators have nothing more to try
  kInterrupted,  // the user stopped it: it can go on
  kService,      // every service failed: it can go on
};
std::string_view name_of(Ending ending);  // "attempts", ..., "no_gain", ...
std::optional<Ending> ending_from_name(std::string_view name);
// A run that somebody or something broke off is not finished.
inline bool can_go_on(Ending ending) { return ending == Ending::kInterrupted || ending == Ending::kService; }

}  // namespace kforge

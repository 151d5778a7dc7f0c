// How it ended for a program: passed, or the kind of its failure; in a search also two ends that are no
// failure of its own. Text only where it is written: name_of() in stored documents and reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kforge {

enum class Outcome : std::uint8_t {
  kPassed,
  // As the alternatives of Failure, in their order.
  kNoProgram,
  kCompileError,
  kCrash,
  kTimeout,
  kWrongShape,
  kWrongValue,
  kRejected,
  kNotVerifiable,
  // Of an attempt in a search only.
  kSlower,      // lost a race against the best so far; not judged further
  kOverturned,  // was accepted, and did not pass when it was judged again
};

// "passed", "no_program", "compile_error", "crash", "timeout", "wrong_shape", "wrong_value", "rejected",
// "not_verifiable", "slower", "overturned".
std::string_view name_of(Outcome outcome);
std::optional<Outcome> outcome_from_name(std::string_view name);

}  // namespace kforge

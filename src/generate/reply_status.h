// What could be taken from a generator's turn.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kforge {

enum class ReplyStatus : std::uint8_t {
  kOk,
  kRepaired,      // a program, after something in the reply was forgiven
  kNoCode,        // no program in it
  kTruncated,     // it ran into its limit inside the program
  kElided,        // parts of the program were left out
  kEditMismatch,  // edits that do not fit the program they change
  kUnchanged,     // a program that was judged before
  kRefused,       // the model declines
  kTooLong,       // the prompt is too long for the model, also without its optional parts
  kCancelled,     // we stopped it
  kNoReply,       // nothing usable came
  kExhausted,     // the generator has nothing more to try from here
};
std::string_view name_of(ReplyStatus status);  // "ok", "ok_repaired", "no_code", ...
std::optional<ReplyStatus> reply_status_from_name(std::string_view name);

}  // namespace kforge

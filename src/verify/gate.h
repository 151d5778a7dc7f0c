// The record every gate leaves, passed or not: what was asked, the answer in one line, and the evidence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kforge {

enum class GateState : std::uint8_t { kPassed, kFailed, kSkipped, kFlagged };
std::string_view name_of(GateState state);  // "passed", "failed", "skipped", "flagged"

struct GateResult {
  std::string name;  // "accuracy"
  GateState state = GateState::kPassed;
  std::string summary;   // one line
  std::string evidence;  // JSON text, may be empty
};

}  // namespace kforge

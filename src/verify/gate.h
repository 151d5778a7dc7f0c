// The record every gate leaves, passed or not: what was asked, the answer in one line, and the evidence; and
// how far off the values were.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"

namespace kforge {

enum class GateState : std::uint8_t { kPassed, kFailed, kSkipped, kFlagged };
std::string_view name_of(GateState state);  // "passed", "failed", "skipped", "flagged"
std::optional<GateState> gate_state_from_name(std::string_view name);

struct GateResult {
  Gate gate = Gate::kRun;
  GateState state = GateState::kPassed;
  std::string summary;  // one line
  Evidence evidence = {};
};

// What a step found out about one gate.
using GateFinding = std::expected<GateResult, Failure>;
inline GateResult passed(Gate gate, std::string summary) {
  return {gate, GateState::kPassed, std::move(summary)};
}

// What the values were like at the worst, over every input kind judged.
struct ErrorFigures {
  double max_abs = 0;   // |a - b|
  double max_rel = 0;   // |a - b| / max(|b|, rms of the row, rms): compares with the policy's tolerance
  double rel_norm = 0;  // ||a - b|| / ||b||
  double bound = 0;     // the policy's bound at the worst element
  double of_bound = 0;  // error / bound there: over 1 is wrong
};

}  // namespace kforge

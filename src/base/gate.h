// The gates a program goes through: one table, in the order judged. A row has the name that is stored and
// shown, the stage that judges it, what it does on other kinds of platform, and the sentence that people
// (docs/gates.md) and agents read about it. A new gate is a row here and the file that judges it; the stages
// themselves are listed in judge/judge.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kforge {

// In the order of the table.
enum class Gate : std::uint8_t {
  kSymbols,
  kNonfinite,
  kAccuracy,
  kInteger,
  kExtreme,
  kMemory,
  kRepeat,
  kThreads,
  kCalibration,
  kGenerality,
  kTimedCalls,
  kClock,
  kAfterReturn,
  kFloor,
  // Hold at any time: they leave a record only when they refuse a program.
  kRun,
  kShape,
  kSandbox,
  kProtocol,
  // By the emulator of CUDA and Metal.
  kRaces,
  kBounds,
  kBarriers,
};

enum class GateStage : std::uint8_t { kSymbols, kValues, kCalibration, kGenerality, kTimes, kAnyTime };

// What a gate does on a platform of one kind.
struct KindRule {
  enum class How : std::uint8_t { kApplied, kDiffers, kNotApplicable };
  How how = How::kApplied;
  std::string_view note = {};  // how it differs, or why it does not apply
};

struct GateRow {
  Gate gate;
  std::string_view name;  // "timed_calls"
  GateStage stage;
  std::string_view asks;  // what it asks of a program
  KindRule device = {}, command = {}, native = {};
};

std::span<const GateRow> all_gates();
const GateRow& row_of(Gate gate);
std::string_view name_of(Gate gate);
std::optional<Gate> gate_from_name(std::string_view name);
// For a platform of this kind: "native", "device" or "command".
const KindRule& rule_of(const GateRow& row, std::string_view kind);
// Whether any gate of the stage applies to a platform of this kind.
bool judged_on(GateStage stage, std::string_view kind);
// GateRow::asks by name; "" for a name that is no gate's.
std::string_view gate_meaning(std::string_view name);

}  // namespace kforge

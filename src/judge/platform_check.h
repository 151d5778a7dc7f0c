// `kforge platforms check`: the first contact with a platform. Its example through every gate, programs that
// must fail there, and the clock (or the model in its place) on work that is known to be twice as much.
#pragma once

#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "judge/setup.h"
#include "platform/platform.h"
#include "store/eval_report.h"

namespace kforge {

struct CheckRow {
  enum class State : std::uint8_t { kPassed, kFailed, kSkipped };
  std::string part;  // "example", "wrong program", "clock", "model"
  std::string name;  // "past_the_end"
  std::string what;  // what is asked, in words
  State state = State::kPassed;
  std::string found;  // what was seen, or why it was skipped
};
std::string_view name_of(CheckRow::State state);  // "passed", "failed", "skipped"

struct PlatformCheck {
  Platform platform;
  Readiness readiness;
  Device device;
  std::string machine_text, sandbox, created_at, kforge_version;
  std::vector<CheckRow> rows;     // empty where the platform is missing something
  std::vector<GateResult> gates;  // of the example

  bool passed() const;
};

struct PlatformCheckOptions {
  std::string platform;                // name or folder
  std::optional<SandboxTier> sandbox;  // nothing: the strongest that works
};

// An Error is the machinery's or the folder's (no such platform, a mistake in its file, no example). A
// platform that is missing something is a check without rows.
Result<PlatformCheck> check_platform(const PlatformCheckOptions& options, Progress& progress);

// To be shared: Markdown, with everything needed to understand it elsewhere.
std::string to_markdown(const PlatformCheck& check);
std::string to_json(const PlatformCheck& check);

}  // namespace kforge

// What judging stands on and no program changes: the task in its shapes, the platform, the machine, the
// precision policy and the sandbox.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "execute/staged_program.h"
#include "machine/machine.h"
#include "platform/platform.h"
#include "sandbox/sandbox.h"
#include "task/task.h"
#include "verify/policy.h"

namespace kforge {

inline constexpr const char* kNaiveBaseline = "naive";  // the smith's first design, on devices

struct JudgeOptions {
  std::string task;                    // name or path
  std::string platform = "cpu";        // --on
  std::string precision = "fp32";      // --precision
  std::string shape_set = "bench";     // --shapes
  std::vector<std::string> set;        // --set: "B=32,D=64", sizes in place of the shape set's
  bool cold = true;                    // --cache cold|warm
  int threads = 0;                     // --threads; 0: all allowed
  std::vector<std::string> baselines;  // --baseline: names, NAME=FILE, or "none"; empty: every one present
  std::filesystem::path python;        // --python
  bool deterministic = false;          // --deterministic
  bool allow_libraries = false;        // --allow-libraries
  std::string march;                   // --march: flag set by name; empty: the best that runs here
  std::optional<SandboxTier> sandbox;  // --sandbox; nothing: the strongest that works
  double call_limit_seconds = 0;       // --timeout for one call; 0: from the size of the task
  bool use_build_cache = true;         // --no-build-cache
  bool store = true;                   // --no-store: nothing is written
};

// What programs run on. What is remembered (winners, tuning) is remembered for it.
struct Device {
  std::string name;    // "Intel Xeon ...", "qemu-aarch64 version 7.2"
  std::string driver;  // what runs programs on it, with its version; "" for the processor itself
  bool emulated = false;
  std::string id;                         // short hash of all that makes it another device
  std::optional<DeviceFacts> facts = {};  // of a device platform
  // Programs run on the processor that KForge runs on, if only through a driver.
  bool this_processor() const { return !facts || facts->this_processor(); }
};

// Stays where it is: its cases point to its task.
struct JudgeSetup {
  JudgeSetup() = default;
  JudgeSetup(const JudgeSetup&) = delete;
  JudgeSetup& operator=(const JudgeSetup&) = delete;

  JudgeOptions options;
  Task task;
  Platform platform;
  Machine machine;  // its cpus are the threads allowed
  PrecisionPolicy policy{};
  Device device;
  RunSetting run;  // of the platform's programs
  SandboxTier tier = SandboxTier::kBubblewrap;
  int threads = 1;
  std::vector<std::unique_ptr<const BoundTask>> cases;  // of the shape set, in order

  const BoundTask& bound(std::size_t index) const { return *cases[index]; }
  // What --on said, such that it is found again from any working folder.
  std::string platform_spec() const;
  // Whether a clock means anything here; under an emulator it does not.
  bool timed() const { return platform.objective == Objective::kTime && !device.emulated; }
  // Whether programs are ranked by the platform's cost model instead of the clock.
  bool modelled() const { return !timed() && platform.model.has_value(); }
};

// An Error is the user's (no such task) or the machinery's (no sandbox).
Result<std::unique_ptr<const JudgeSetup>> open_setup(const JudgeOptions& options);

}  // namespace kforge

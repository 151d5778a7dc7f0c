// Runs a platform's profilers on one built program and gathers what they say. Nothing here is a time that
// counts: profilers run the program slowly, on one call, apart from any measurement.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "build/build.h"
#include "generate/candidate.h"
#include "machine/machine.h"
#include "platform/platform.h"
#include "profile/profile.h"
#include "sandbox/sandbox.h"
#include "task/task.h"

namespace kforge {

struct ProfileInput {
  const BoundTask* task = nullptr;
  const Platform* platform = nullptr;
  const Machine* machine = nullptr;
  const Peaks* peaks = nullptr;  // null: no roofline facts
  const Candidate* candidate = nullptr;
  const Build* build = nullptr;  // of the candidate for this task
  SandboxTier tier = SandboxTier::kBubblewrap;
  int threads = 1;
  bool allow_libraries = false;
  std::uint64_t seed = 1;  // of the inputs and blocks that an emulated program is counted on
  // What the verdict says, for facts beside the profilers' own.
  std::optional<double> time_ns;
  bool cold = true;
  double thread_use = 0;  // cpu seconds / (wall seconds * threads); 0: not known
  // Which profilers: by default those with `when = "always"`; further ones by name ("callgrind", "picture").
  std::set<std::string> also;
  std::set<std::string> without;
  std::function<void(std::string_view profiler)> progress;  // before each; may be empty
  std::function<bool()> stop;  // true: no further profiler is started; may be empty
};

// A profiler that fails or is not installed leaves a line in Profile::absent and never an Error.
Profile profile_candidate(const ProfileInput& input);

// Facts and texts for an agent, most telling first, within a budget; candidates' text in fences.
std::string profile_summary(const Profile& profile, std::size_t limit_bytes = 6'000);
// ProfileText::title of the hot loop's listing.
inline constexpr std::string_view kHotLoopTitle = "hot loop";
// The listing of the hot loop, or "".
std::string hot_loop_of(const Profile& profile, std::size_t limit_bytes = 4'000);

// nullptr when there is no such fact; the last one when several profilers say it.
// The samples show every thread at work, yet together they had little of the processors' time: others had it.
bool shared_processors(const Profile& profile);
const Fact* find_fact(const Profile& profile, std::string_view name);

// What the platform's cost model says of the program, with what it says it from.
struct ModelledTime {
  double ns = 0;
  std::vector<Fact> inputs;  // `source`: the kernel, or what the figure is of
};
// An Error says why there is none: a command is missing, failed, took too long, or did not print exactly one
// line "modelled_ns NUMBER"; or the emulator could not count.
Result<ModelledTime> modelled_time(const ProfileInput& input, const CostModel& model);
// The figure in what the command printed.
Result<double> parse_modelled_ns(std::string_view text);

}  // namespace kforge

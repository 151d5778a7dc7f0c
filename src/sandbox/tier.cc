// Which tier works here: found by trying, since kernels, containers and settings forbid in many ways.
#include <array>
#include <mutex>

#include "sandbox/sandbox.h"
#include "sandbox/tier_memory.h"

namespace kforge {
namespace {

std::optional<std::string> try_tier(SandboxTier tier) {
  SandboxSpec spec;
  spec.profile = SandboxProfile::kNative;
  spec.argv = {"/usr/bin/true"};
  spec.limits.wall = std::chrono::milliseconds(10'000);
  auto process = start_sandboxed(spec, tier);
  if (!process) return process.error().text();
  auto exit = (*process)->wait();
  if (!exit) return exit.error().text();
  if (exit->signal != 0 || exit->exit_code != 0)
    return fmt::format("a trial program did not run (exit code {}, signal {}) {}", exit->exit_code,
                       exit->signal, exit->err);
  return std::nullopt;
}

struct Trial {
  std::once_flag once;
  std::optional<std::string> problem;
};

}  // namespace

std::string_view name_of(SandboxTier tier) {
  switch (tier) {
    case SandboxTier::kBubblewrap:
      return "bubblewrap";
    case SandboxTier::kLandlock:
      return "landlock";
    case SandboxTier::kNone:
      return "none";
  }
  return "unknown";
}

std::string_view name_of(SandboxProfile profile) {
  switch (profile) {
    case SandboxProfile::kCompile:
      return "compile";
    case SandboxProfile::kNative:
      return "native";
    case SandboxProfile::kDriver:
      return "driver";
    case SandboxProfile::kDesktop:
      return "desktop";
  }
  return "unknown";
}

std::optional<std::string> tier_unavailable(SandboxTier tier) {
  if (tier == SandboxTier::kNone) return std::nullopt;
  static std::array<Trial, 2> trials;
  Trial& trial = trials[static_cast<std::size_t>(tier)];
  std::call_once(trial.once, [&] { trial.problem = try_tier(tier); });
  return trial.problem;
}

namespace {

Result<SandboxTier> strongest_by_trial() {
  auto bubblewrap = tier_unavailable(SandboxTier::kBubblewrap);
  if (!bubblewrap) return SandboxTier::kBubblewrap;
  auto landlock = tier_unavailable(SandboxTier::kLandlock);
  if (!landlock) return SandboxTier::kLandlock;
  return fail_with_remedy(
      "install the package bubblewrap and allow user namespaces, or use a kernel with Landlock (5.13 or "
      "later); "
      "--no-sandbox runs candidates unprotected",
      fmt::format("no sandbox works here: bubblewrap: {}; landlock: {}", *bubblewrap, *landlock));
}

}  // namespace

Result<SandboxTier> strongest_tier() {
  static const std::optional<SandboxTier> remembered = remembered_tier();
  if (remembered) return *remembered;
  KF_TRY(SandboxTier tier, strongest_by_trial());
  remember_tier(tier);
  return tier;
}

}  // namespace kforge

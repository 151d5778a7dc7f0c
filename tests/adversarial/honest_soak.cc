// Judges the honest kernels over and over and wants no false alarm.
//
//   honest_soak [--evaluations 300] [--full-every 5]
//
// The numbers may also come from KFORGE_SOAK (evaluations). Every n-th evaluation is a full one with timing,
// the others judge values only. Exit code 0: every one passed; 1: false alarms, each printed with its gate
// and reason.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "adversarial/kernel_case.h"
#include "base/files.h"
#include "judge/evaluate.h"
#include "machine/machine.h"
#include "store/eval_report.h"

namespace kforge {
namespace {

struct SoakOptions {
  int evaluations = 14;  // every honest kernel has a test of its own, too
  int full_every = 2;
};

// Kernels that can run here, those that are timed in the adversarial tests marked as they are.
Result<std::vector<KernelCase>> kernels_for_this_machine() {
  KF_TRY(Machine machine, describe_machine());
  KF_TRY(auto all, read_kernel_cases(fs::path(KFORGE_SOURCE_DIR) / "tests" / "adversarial" / "honest"));
  std::erase_if(all, [&](const KernelCase& kernel) {
    return !kernel.needs.empty() && !machine.features.contains(kernel.needs);
  });
  return all;
}

// Says how many were refused.
Result<int> soak(const SoakOptions& options) {
  KF_TRY(auto kernels, kernels_for_this_machine());
  KF_TRY(SandboxTier tier, strongest_tier());
  int refused = 0;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < options.evaluations; ++i) {
    KernelCase kernel = kernels[static_cast<std::size_t>(i) % kernels.size()];
    kernel.full = options.full_every > 0 && i % options.full_every == options.full_every - 1;
    SilentProgress progress;
    KF_TRY(EvalReport report, evaluate(quick_options(kernel, tier), progress));
    if (report.passed()) continue;
    ++refused;
    fmt::print("false alarm: {} ({}): {} {}: {}\n", kernel.name, kernel.full ? "full" : "check",
               name_of(report.outcome), report.gate_name(), report.reason);
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{} evaluations of {} honest kernels under {}, {} false alarms, {:.1f} s\n", options.evaluations,
             kernels.size(), name_of(tier), refused, seconds);
  return refused;
}

}  // namespace
}  // namespace kforge

int main(int argc, char** argv) {
  kforge::SoakOptions options;
  if (const char* wanted = std::getenv("KFORGE_SOAK")) options.evaluations = std::atoi(wanted);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string_view(argv[i]) == "--evaluations") options.evaluations = std::atoi(argv[i + 1]);
    if (std::string_view(argv[i]) == "--full-every") options.full_every = std::atoi(argv[i + 1]);
  }
  if (!std::getenv("KFORGE_HOME")) ::setenv("KFORGE_HOME", KFORGE_BINARY_DIR "/adversarial_home", 0);
  auto refused = kforge::soak(options);
  if (!refused) {
    fmt::print(stderr, "honest_soak: {}\n", refused.error().text());
    return 2;
  }
  return *refused == 0 ? 0 : 1;
}

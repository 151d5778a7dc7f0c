#include "base/machine_load.h"

#include <fmt/core.h>

namespace kforge {
namespace {

// A machine at rest stays far below these: a stray timer costs a round in twenty, and the calibration loop
// repeats within a percent.
constexpr double kMostDisturbed = 0.5, kMostSteal = 0.05, kMostRunQueue = 1, kMostCalibration = 0.1;

}  // namespace

bool MachineLoad::busy() const {
  return rounds_lost || disturbed > kMostDisturbed || steal > kMostSteal || run_queue > kMostRunQueue ||
         calibration > kMostCalibration;
}

std::string MachineLoad::words() const {
  if (!busy()) return "";
  std::string reasons;
  const auto add = [&](bool wanted, const std::string& reason) {
    if (wanted) reasons += (reasons.empty() ? "" : ", ") + reason;
  };
  add(rounds_lost || disturbed > kMostDisturbed,
      fmt::format("{:.0f} % of the rounds disturbed", 100 * disturbed));
  add(run_queue > kMostRunQueue, fmt::format("{:.1f} others ready to run", run_queue));
  add(steal > kMostSteal, fmt::format("{:.0f} % of its time taken by the hypervisor", 100 * steal));
  add(calibration > kMostCalibration,
      fmt::format("the same arithmetic spread by {:.0f} %", 100 * calibration));
  return "the machine was busy: " + reasons;
}

}  // namespace kforge

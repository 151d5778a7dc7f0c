#include "base/machine_load.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(MachineLoad, AQuietMachineNeedsNoWords) {
  const MachineLoad load{.disturbed = 0.1, .steal = 0.01, .run_queue = 0.2, .calibration = 0.01};
  EXPECT_FALSE(load.busy());
  EXPECT_EQ(load.words(), "");
}

TEST(MachineLoad, SaysWhatWasOutOfBounds) {
  EXPECT_EQ((MachineLoad{.disturbed = 0.83, .run_queue = 4}).words(),
            "the machine was busy: 83 % of the rounds disturbed, 4.0 others ready to run");
  EXPECT_EQ((MachineLoad{.steal = 0.12}).words(),
            "the machine was busy: 12 % of its time taken by the hypervisor");
  EXPECT_EQ((MachineLoad{.calibration = 0.31}).words(),
            "the machine was busy: the same arithmetic spread by 31 %");
}

TEST(MachineLoad, RoundsThatCouldNotBeMadeUpForAreSaid) {
  EXPECT_EQ((MachineLoad{.disturbed = 0.4, .rounds_lost = true}).words(),
            "the machine was busy: 40 % of the rounds disturbed");
}

}  // namespace
}  // namespace kforge

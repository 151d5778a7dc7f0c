// One call of an emulated program in the variant of the emulator that counts. The report lies in memory that
// this process owns; a call that takes too long is repeated with only the blocks that are looked at.
#pragma once

#include "base/failure.h"
#include "emulate/findings.h"
#include "profile/profile_candidate.h"

namespace kforge {

struct DeviceCounts {
  emulate::Report report;
  std::filesystem::path library;  // that ran
  bool partial = false;           // only the blocks that were looked at ran
};

// REQUIRES: a device platform that is emulated. An Error says why nothing could be counted.
Result<DeviceCounts> count_device(const ProfileInput& input);

}  // namespace kforge

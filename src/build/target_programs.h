// KForge's own children for the machine a platform's programs are compiled for: the runner that loads them,
// the same with a guarded heap, and the caller for profilers. For this machine they were built with KForge;
// for another one the platform's own compiler builds them from the same sources, once.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "platform/platform.h"

namespace kforge {

struct TargetPrograms {
  std::filesystem::path runner, guarded, call;
};

Result<TargetPrograms> target_programs(const Platform& platform);

}  // namespace kforge

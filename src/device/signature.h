// A kernel's parameters, as its interface tells them, against what a plan gives it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/launch_plan.h"

namespace kforge {

struct KernelParameter {
  enum class Kind : std::uint8_t { kMemory, kLocal, kScalar };
  Kind kind = Kind::kMemory;
  std::string type;  // "float*", "int", "float4*"
  std::string name;
};

// The first mistake of a launch, in words; nothing when it fits. A memory may be seen as another type of the
// same size (bits of a float as an integer), as vectors, or as bytes. Shared memory of the plan goes to a
// last parameter in local memory.
std::optional<std::string> signature_mistake(const LaunchPlan& plan, const PlanLaunch& launch,
                                             const std::vector<KernelParameter>& parameters);

}  // namespace kforge

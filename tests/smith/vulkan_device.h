// Runs the compute shaders of a launch plan on a Vulkan device (lavapipe where there is no GPU), for tests of
// the smith. The library is loaded when it is there.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "judged.h"
#include "smith/smith.h"

namespace kforge {

class VulkanDevice {
 public:
  // An Error says why there is none.
  static Result<std::shared_ptr<VulkanDevice>> open();
  virtual ~VulkanDevice() = default;
  // Compiles the source once per kernel with glslangValidator, in `folder`.
  virtual Result<AnyCall> program(const smith::Problem& problem, const smith::DeviceDesign& design,
                                  const std::string& folder) = 0;
  virtual std::string name() const = 0;
};

}  // namespace kforge

// Runs the kernels of a launch plan on an OpenCL device, for tests of the smith. The library is loaded when
// it is there: without it (or without a device) the tests say so and are skipped.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "judged.h"
#include "smith/smith.h"

namespace kforge {

class OpenClDevice {
 public:
  // An Error says why there is none.
  static Result<std::shared_ptr<OpenClDevice>> open();
  virtual ~OpenClDevice() = default;
  // Builds the source. Calling the program copies arguments in, follows `prepare` and `run` of the plan, and
  // copies results out; it aborts the test where the device refuses something.
  virtual Result<AnyCall> program(const smith::Problem& problem, const smith::DeviceDesign& design) = 0;
  virtual std::string name() const = 0;
};

}  // namespace kforge

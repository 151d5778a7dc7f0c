// The generated half of a program: from a plan, the functions of the native contract (kernel, or prepare,
// kernel_prepared and release), as tables for the runtime; and, in the candidate's own translation unit, one
// thunk for each kernel that the plan launches.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "base/failure.h"
#include "device/launch_plan.h"
#include "emulate/rewrite.h"
#include "emulate/variant.h"

namespace kforge::emulate {

struct Contract {
  std::string constants;           // C++, before the rewritten source: function constants of MSL
  std::string thunks;              // C++, after the rewritten source
  std::vector<std::string> names;  // of the thunks: all that the candidate's object may show
  std::string tables;              // C++, a translation unit of its own
};

// `params`: which of the plan's tensors are params. The variants that look have one more pointer, for the
// report. A plan that does not fit the kernels is the candidate's mistake.
std::expected<Contract, CompileError> make_contract(const LaunchPlan& plan, const std::vector<bool>& params,
                                                    const Rewritten& source, Language language,
                                                    Variant variant);

}  // namespace kforge::emulate

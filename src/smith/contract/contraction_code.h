// A contraction and its schedule become C++: a struct of constants and small functions, NAME_config, and
//
//   using NAME = BlockedContraction<NAME_config>;
//
// or another template of kernels/contraction/, with the members
//
//   NAME::prepare(tensors, prepared)            packs params; called only where prepared_floats > 0
//   NAME::work(tensors, prepared, scratch)      called by every thread of a team of at most `threads`
//
// Buffers are 64-byte aligned; the program around it allocates them.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "smith/contract/contraction_schedule.h"
#include "smith/contract/staging.h"

namespace kforge::smith {

struct ContractionCode {
  std::string name;
  std::string definitions;
  std::set<std::string> headers;  // of kernels/ that the definitions need
  long prepared_floats = 0;
  long scratch_floats = 0;
  int threads = 1;      // that scratch memory has room for
  std::string summary;  // one or two sentences: what was chosen and why
};

// `staging`: the copy of operand b that is read instead of it, for convolutions.
Result<ContractionCode> emit_contraction(const Contraction& contraction, const ContractionSchedule& schedule,
                                         const Staging* staging = nullptr);

}  // namespace kforge::smith

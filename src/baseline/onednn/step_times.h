// Times the steps of a plan one by one, on values of the task's own: what each operator costs when operators
// are computed one after the other.
#pragma once

#include <string>

#include "baseline/onednn/plan.h"

namespace kforge::onednn {

// "node TAB operator TAB nanoseconds" per operator, medians over several calls. With `evict_bytes` the
// threads push everything out of their caches before each call.
Result<std::string> print_step_times(Plan& plan, const BoundTask& task, std::size_t evict_bytes);

}  // namespace kforge::onednn

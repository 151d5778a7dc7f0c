// What the user may do next, one line each.
#pragma once

#include <string>
#include <vector>

#include "store/eval_report.h"

namespace kforge {

std::vector<std::string> next_steps(const EvalReport& report);

}  // namespace kforge

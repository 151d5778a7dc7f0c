// Baselines that were not there, in as few lines as a reader needs.
#pragma once

#include <string>
#include <vector>

#include "store/eval_report.h"

namespace kforge {

// What can be installed is one line with one remedy; what cannot do the task says why, each for itself.
// `explain`: every one with its reason and its own remedy.
std::vector<std::string> absent_lines(const std::vector<AbsentBaselineNote>& absent, bool explain);

}  // namespace kforge

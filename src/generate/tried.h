// What was tried, as the agents are shown it: a row for each attempt, and the one that looked faster than the
// best without proving it.
#pragma once

#include <string>

#include "generate/plan.h"

namespace kforge {

// "correct, 812 us, 1.31x the fastest baseline [...], the best so far" or "compile_error: first line".
// `best`: of the run at present.
std::string result_text(const Attempt& attempt, const Attempt* best = nullptr);

// One line per attempt. Of more than `most_rows` the oldest are left out, but never one that was kept, nor
// those that came nearest to it.
std::string history_table(const Plan& plan, std::size_t most_rows);

// The verified program with the best ratio over the present best that was not kept, once something later has
// failed or done worse: its idea may be worth more than a new one. Null: none, or it is shown already.
const Attempt* runner_up(const Plan& plan);

}  // namespace kforge

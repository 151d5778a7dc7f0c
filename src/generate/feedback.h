// What went wrong with a program, as its author needs to hear it: the first error first, figures exact,
// within a budget. For a compiler error the source lines it points at; for a crash signal and place; for
// wrong values the worst elements, the pattern, the first wrong index and where in the output the error lies;
// for a rejection the gate, what that gate asks, and its evidence.
#pragma once

#include <string>

#include "generate/plan.h"

namespace kforge {

// Text for a prompt; what came from outside stands between fences. "" for an attempt that passed.
std::string failure_feedback(const Attempt& attempt, std::size_t limit_bytes = 6'000);

// What a gate saw, a figure a line, each of at most about `limit` bytes; "" for nothing.
std::string evidence_lines(const Evidence& evidence, std::size_t limit);

}  // namespace kforge

// What became of the attempts of a run, in words: the same on the terminal, in Markdown and on the page.
#pragma once

#include <string>
#include <vector>

#include "report/run_report.h"

namespace kforge {

// "3 calls, 12 k tokens in, 1.2 k out, $0.0410"; "" where no model was asked.
std::string cost_text(const CostReport& cost);
// What a reader wants to know of an attempt: "best so far", "no gain", "wrong value (accuracy)".
std::string outcome_text(const Attempt& attempt);
// "promised 1.30x, measured 1.12x [1.08, 1.17]"; a promise has no interval. Where the advice was not followed
// the gain is none of its own. REQUIRES: there is advice.
std::string kept_words(const Attempt& attempt);
// The same behind its tag, "unroll: promised ..."; "" without advice.
std::string advice_text(const Attempt& attempt);
// What was asked of it and how it failed, every line of it.
std::vector<std::string> failure_lines(const Attempt& attempt);
// It does less arithmetic than the graph says.
bool algebraic(const EvalReport& report);

}  // namespace kforge

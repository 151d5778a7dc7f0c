// What a measured ratio shows, in words: the same on the terminal, in Markdown and in JSON.
#pragma once

#include <string>

#include "base/interval.h"
#include "store/eval_report.h"

namespace kforge {

struct ResultRow;

// What a verdict on a vacuous task is worth.
inline constexpr const char* kVacuous =
    "the task is vacuous: a program that does nothing would pass too, so this shows nothing";

// "the interval holds 1: no difference was shown", "it is slower than onednn"; "" for what is faster.
std::string caution(const Speedup& speedup);
// The rival of the headline with its version, and whether that is old: "onednn 2.6 (2022-03: old)".
std::string rival_text(const EvalReport& report);
// What limits the figures of a report, joined by "; ": caution() where there is a ratio, and a busy machine.
std::string cautions(const EvalReport& report);
// "2 threads"; "1 of 2 threads" for a kernel that left some of those allowed alone.
std::string threads_text(const EvalReport& report);
// "1.31x [1.20, 1.40]".
std::string interval_text(const Speedup& speedup);
// Of a line of a list, with the baseline: "1.53x [1.40, 1.70] over onednn"; empty: it has none.
std::string speedup_text(const ResultRow& row);

}  // namespace kforge

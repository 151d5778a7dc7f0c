// Where the attempts of a run lie below the machine's limits.
#pragma once

#include <optional>

#include "plot/xy.h"
#include "report/run_evidence.h"

namespace kforge {

// Flops per byte against flops per second: the measured roofs, every timed attempt, the confirmed figure.
// Nothing: no roofs were measured, nothing was timed, or the task has no flops.
std::optional<XyChart> roofline_plot(const RunReport& report, const RunEvidence& evidence);
// Of one verdict: the kernel and its baselines below the limit that binds, which is all a verdict knows of
// the machine. Nothing: it was not timed, has several shapes, or its task has no flops.
std::optional<XyChart> roofline_plot(const EvalReport& report);
// The same heights attempt by attempt, with the path of the best, and what the roofline allows; in bytes for
// tasks without flops. Nothing: no attempt was timed.
std::optional<XyChart> attempts_plot(const RunReport& report);
// The speedup the search had reached after each attempt, with its interval.
std::optional<XyChart> incumbent_plot(const RunReport& report);

}  // namespace kforge

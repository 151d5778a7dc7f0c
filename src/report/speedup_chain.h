// How the search came to its result: the accepted attempts, each with the speedup it had reached. Each step
// is a paired ratio over the best before it; the chain ends at the confirmed figure. Ratios to a baseline
// taken at different moments would rise and fall with the machine's mood.
#pragma once

#include <optional>
#include <vector>

#include "base/interval.h"
#include "generate/attempt.h"

namespace kforge {

struct ChainStep {
  int attempt = 0;
  Interval speedup;  // errors of the steps added as independent ones
};

// `confirmed`: the figure of attempt `best`. Without one (no baseline) the first step is 1. Steps before one
// whose ratio is not known are left out.
std::vector<ChainStep> speedup_chain(const std::vector<Attempt>& attempts, int best,
                                     const std::optional<Speedup>& confirmed);

}  // namespace kforge

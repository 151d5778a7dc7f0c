// Wilcoxon's signed-rank interval for the centre of differences that are symmetric about it. Two programs
// that are the same, timed in an order drawn anew in every round, give such differences whatever the noise is
// like: heavy, one-sided, in bursts. So an interval at 95 % errs in 5 % of all cases also with seven rounds
// and beside busy processes, which a bootstrap of the median does not.
#pragma once

#include <span>

#include "verify/statistics.h"

namespace kforge {

// `value` is the median of all pairwise means. Below six differences no interval reaches 95 %: the widest
// there is is given, from the smallest to the largest. REQUIRES: 0.5 < confidence < 1.
Interval signed_rank_interval(std::span<const double> differences, double confidence = 0.95);

// The fewest differences with which an interval of this confidence exists.
int least_differences(double confidence);

}  // namespace kforge

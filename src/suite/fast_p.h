// The figures of a suite, as pure functions of its ratios. fast_p is the share of problems whose program is
// correct and more than p times as fast as the baseline: by the point estimate, as it is usually told, and by
// the whole 95 % interval, which says how much of that was shown.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/interval.h"

namespace kforge {

// One problem against one baseline.
struct Scored {
  bool correct = false;
  std::optional<Interval> speedup;  // nothing: not correct, not timed, or the baseline was not there
};

inline constexpr std::array<double, 4> kFastP = {0, 1, 1.5, 2};

struct FastP {
  double p = 0;
  int by_point = 0;     // problems whose speedup is above p
  int by_interval = 0;  // problems whose whole interval is
};

// Speedups from `from` on, below `below`.
struct SpeedupBucket {
  double from = 0, below = 0;  // the last one has no end: below is infinite
  int problems = 0;
};

struct Score {
  int problems = 0;
  int correct = 0;
  int compared = 0;  // what fast_p is a share of for p > 0: all but those that are correct without a ratio
  std::array<FastP, 4> fast{};  // in the order of kFastP; fast_0 is the correctness rate, of all problems
  std::optional<double> geometric_mean, median;  // of the ratios of correct ones; nothing where there is none
  std::vector<SpeedupBucket> distribution;       // of the same; every bucket, empty ones too

  double share(std::size_t which, bool interval) const;  // 0 to 1; 0 of nothing
};

// A tie at p is not above p. Programs that are correct and have no ratio (no such baseline, nothing timed)
// count for fast_0 and for nothing else.
Score score_of(std::span<const Scored> problems);

// fast_p for every p: from p on, until the next, the share is this. The first p is 0. Empty: nothing was
// compared.
struct FastStep {
  double p = 0, share = 0;
};
std::vector<FastStep> fast_curve(std::span<const Scored> problems, bool by_interval);

// "<0.5", "0.5-0.8", "5 and more"
std::string bucket_name(const SpeedupBucket& bucket);

}  // namespace kforge

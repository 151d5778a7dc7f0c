#include "suite/fast_p.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "verify/statistics.h"

namespace kforge {
namespace {

constexpr double kEdges[] = {0, 0.5, 0.8, 0.95, 1.05, 1.25, 1.5, 2, 5};

std::vector<SpeedupBucket> empty_buckets() {
  std::vector<SpeedupBucket> buckets;
  for (std::size_t i = 0; i < std::size(kEdges); ++i)
    buckets.push_back(
        {kEdges[i], i + 1 < std::size(kEdges) ? kEdges[i + 1] : std::numeric_limits<double>::infinity()});
  return buckets;
}

double geometric_mean_of(std::span<const double> ratios) {
  double sum = 0;
  for (double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

}  // namespace

double Score::share(std::size_t which, bool interval) const {
  const int of = kFastP[which] > 0 ? compared : problems;
  return of > 0 ? static_cast<double>(interval ? fast[which].by_interval : fast[which].by_point) / of : 0;
}

Score score_of(std::span<const Scored> problems) {
  Score score;
  score.distribution = empty_buckets();
  std::vector<double> ratios;
  for (std::size_t i = 0; i < kFastP.size(); ++i) score.fast[i].p = kFastP[i];
  for (const Scored& problem : problems) {
    ++score.problems;
    score.correct += problem.correct;
    const bool ratio = problem.correct && problem.speedup;
    score.compared += !problem.correct || ratio;
    if (!ratio) continue;
    ratios.push_back(problem.speedup->value);
    for (FastP& fast : score.fast) {
      if (fast.p == 0) continue;
      fast.by_point += problem.speedup->value > fast.p;
      fast.by_interval += problem.speedup->lo > fast.p;
    }
    for (SpeedupBucket& bucket : score.distribution)
      bucket.problems += problem.speedup->value >= bucket.from && problem.speedup->value < bucket.below;
  }
  score.fast[0].by_point = score.fast[0].by_interval = score.correct;
  if (ratios.empty()) return score;
  score.geometric_mean = geometric_mean_of(ratios);
  score.median = median(ratios);
  return score;
}

std::vector<FastStep> fast_curve(std::span<const Scored> problems, bool by_interval) {
  const Score score = score_of(problems);
  if (score.compared == 0) return {};
  std::vector<double> ratios;
  for (const Scored& problem : problems)
    if (problem.correct && problem.speedup)
      ratios.push_back(by_interval ? problem.speedup->lo : problem.speedup->value);
  std::ranges::sort(ratios);
  std::vector<FastStep> steps{{0, static_cast<double>(ratios.size()) / score.compared}};
  for (std::size_t i = 0; i < ratios.size(); ++i)
    steps.push_back({ratios[i], static_cast<double>(ratios.size() - i - 1) / score.compared});
  return steps;
}

std::string bucket_name(const SpeedupBucket& bucket) {
  if (bucket.from == 0) return fmt::format("below {}", bucket.below);
  if (std::isinf(bucket.below)) return fmt::format("{} and more", bucket.from);
  return fmt::format("{} to {}", bucket.from, bucket.below);
}

}  // namespace kforge

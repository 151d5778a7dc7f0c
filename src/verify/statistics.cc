#include "verify/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/result.h"
#include "verify/signed_rank.h"

namespace kforge {

double quantile(std::span<const double> values, double q) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  double at = q * static_cast<double>(sorted.size() - 1);
  auto below = static_cast<std::size_t>(at);
  std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

Interval median_interval(std::span<const double> values) {
  if (values.empty()) return {};
  // A fixed seed: the same samples give the same interval, which `recheck` relies on.
  std::mt19937_64 random(20251113);
  constexpr int kResamples = 2000;
  std::vector<double> medians, resample(values.size());
  medians.reserve(kResamples);
  for (int i = 0; i < kResamples; ++i) {
    for (double& value : resample) value = values[random() % values.size()];
    std::ranges::nth_element(resample, resample.begin() + static_cast<std::ptrdiff_t>(resample.size() / 2));
    medians.push_back(resample[resample.size() / 2]);
  }
  return {median(values), quantile(medians, 0.025), quantile(medians, 0.975)};
}

Interval paired_ratio(std::span<const double> numerator, std::span<const double> denominator,
                      double confidence) {
  KF_CHECK(numerator.size() == denominator.size(), "{} against {} samples", numerator.size(),
           denominator.size());
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < numerator.size(); ++i)
    if (numerator[i] > 0 && denominator[i] > 0) logarithms.push_back(std::log(numerator[i] / denominator[i]));
  if (logarithms.empty()) return {};
  const Interval found = signed_rank_interval(logarithms, confidence);
  return {std::exp(found.value), std::exp(found.lo), std::exp(found.hi)};
}

void GeometricMean::add(const Interval& part, double weight) {
  value_ += weight * std::log(part.value);
  lo_ += weight * std::log(part.lo);
  hi_ += weight * std::log(part.hi);
  weights_ += weight;
}

Interval GeometricMean::get() const {
  return {std::exp(value_ / weights_), std::exp(lo_ / weights_), std::exp(hi_ / weights_)};
}

}  // namespace kforge

// Robust statistics of a few noisy samples.
#pragma once

#include <span>
#include <vector>

#include "base/interval.h"

namespace kforge {

double median(std::span<const double> values);              // 0 of nothing
double quantile(std::span<const double> values, double q);  // linear between neighbours
Interval median_interval(std::span<const double> values);   // by bootstrap
// numerator[i] / denominator[i], pairs from the same round in an order drawn for it: a signed-rank interval
// of the logarithms (signed_rank.h). REQUIRES: same length.
Interval paired_ratio(std::span<const double> numerator, std::span<const double> denominator,
                      double confidence = 0.95);

// The weighted geometric mean of ratios or times over shape cases: a case driven to zero time cannot buy the
// whole.
class GeometricMean {
 public:
  void add(const Interval& part, double weight);
  bool empty() const { return weights_ == 0; }
  Interval get() const;  // REQUIRES: !empty()

 private:
  double value_ = 0, lo_ = 0, hi_ = 0, weights_ = 0;
};

}  // namespace kforge

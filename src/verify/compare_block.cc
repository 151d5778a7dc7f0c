// Written for the vectoriser: kLanes independent sums, no branches. The lanes are added in a fixed order, so
// a result does not depend on the width that the loader picks.
#include "verify/compare_block.h"

#include <cmath>

#include "base/wide.h"
#include "oracle/rounding.h"

namespace kforge {
namespace {

constexpr int kLanes = 8;
static_assert(kCompareBlock % kLanes == 0);

KF_INLINE double larger(double a, double b) { return a > b ? a : b; }

KF_INLINE double sum_of(const double (&lanes)[kLanes]) {
  double sum = 0;
  for (double lane : lanes) sum += lane;
  return sum;
}

KF_INLINE double largest_of(const double (&lanes)[kLanes]) {
  double largest = 0;
  for (double lane : lanes) largest = larger(lane, largest);
  return largest;
}

}  // namespace

KF_WIDE BlockGlance glance_at_block(const double* got, const double* want, const BlockBounds& bounds) {
  double max_abs[kLanes] = {}, max_rel[kLanes] = {}, error_sum[kLanes] = {}, truth_sum[kLanes] = {};
  double remarkable[kLanes] = {};  // 0 or 1
  const double scale = bounds.scale, tolerance = bounds.tolerance, floor = bounds.floor, mean = bounds.mean;
  const double relative = bounds.relative > 0 ? bounds.relative : 1e300, rounding = bounds.rounding;
  const double ratio = bounds.worst_ratio < 1 ? bounds.worst_ratio : 1;
  for (int i = 0; i < kCompareBlock; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      double w = want[i + l], error = std::fabs(got[i + l] - w), magnitude = std::fabs(w);
      double size = larger(magnitude, bounds.size), far = larger(std::fabs(w - mean), scale);
      far = far < size ? far : size;
      double bound = larger(larger(tolerance * far, rounding * magnitude), floor);
      double factor = w >= kLeastRelative ? relative * w : 1e300;
      double allowed = ratio * (bound < factor ? bound : factor), close = 1e-4 + 1e-4 * magnitude;
      double least = allowed < close ? allowed : close;
      // Written so that NaN is remarkable: an infinity on either side makes the difference infinite or NaN.
      remarkable[l] = error <= least ? remarkable[l] : 1;
      max_abs[l] = larger(error, max_abs[l]);
      max_rel[l] = larger(error / size, max_rel[l]);
      error_sum[l] += error * error;
      truth_sum[l] += w * w;
    }
  }
  return {largest_of(max_abs), largest_of(max_rel), sum_of(error_sum), sum_of(truth_sum),
          largest_of(remarkable) == 0};
}

KF_WIDE double finite_square_sum(const float* values, std::int64_t count, double centre) {
  double sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      double value = static_cast<double>(values[i + l]);
      sums[l] += std::fabs(value) <= 3.5e38 ? (value - centre) * (value - centre) : 0;
    }
  }
  double sum = sum_of(sums);
  for (; i < count; ++i) {
    double value = static_cast<double>(values[i]);
    if (std::isfinite(value)) sum += (value - centre) * (value - centre);
  }
  return sum;
}

KF_WIDE void widen(const float* from, double* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(from[i]);
}

}  // namespace kforge

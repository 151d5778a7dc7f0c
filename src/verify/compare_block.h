// A block of elements at a glance: sums and extremes with wide vectors, and whether anything in it needs a
// closer look. Nearly every block of a right answer is dull; comparing element by element is kept for the
// others.
#pragma once

#include <cstdint>

namespace kforge {

constexpr int kCompareBlock = 256;

struct BlockBounds {
  double mean = 0;         // of the tensor
  double scale = 0;        // how far values of the row lie from their mean; above 0
  double size = 0;         // how large values of the row are; above 0
  double tolerance = 0;    // of max(|want - mean|, scale)
  double rounding = 0;     // of |want|
  double floor = 0;        // the bound is never below it
  double relative = 0;     // of a positive want, besides: above 0 where values are products of exponentials
  double worst_ratio = 0;  // largest error / bound seen so far; not above 1 matters
};

struct BlockGlance {
  double max_abs = 0, max_rel = 0;
  double square_error = 0, square_truth = 0;
  // All finite, all within bounds, none worse than the worst so far, all close in KernelBench's sense.
  bool dull = false;
};

// Elements [0, kCompareBlock) of two arrays.
BlockGlance glance_at_block(const double* got, const double* want, const BlockBounds& bounds);

// Sum of the squares of what finite elements differ from `centre` by.
double finite_square_sum(const float* values, std::int64_t count, double centre);

void widen(const float* from, double* to, std::int64_t count);

}  // namespace kforge

// One output against what it must be: every element, under a precision policy.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oracle/expected.h"
#include "verify/policy.h"

namespace kforge {

struct WrongElement {
  std::int64_t index = 0;  // flat
  double got = 0, want = 0;
  double error = 0, bound = 0;
};

struct Comparison {
  std::int64_t elements = 0;
  std::int64_t wrong = 0;            // outside the bound, or non-finite in the wrong place
  std::int64_t wrong_nonfinite = 0;  // of those: non-finite where the truth is finite, or the reverse
  std::int64_t first_wrong = -1;     // flat index
  std::vector<WrongElement> worst;   // up to 5, by error / bound, largest first (also when all are right)
  double max_abs = 0;                // over elements finite in both
  double max_rel = 0;                // |error| / max(|b|, rms of the row, rms): compares with the tolerance
  double rel_norm = 0;               // ||a - b|| / ||b||
  double worst_ratio = 0;            // largest error / bound; over 1 is wrong
  double bound_at_worst = 0;
  std::string pattern;  // "every 4th element", "last row", "one factor of 2", ...; empty: none seen
  // KernelBench's own criterion, |a - b| <= t + t |b| with t = 1e-4, beside ours.
  bool allclose_1e4 = true;

  bool ok() const { return wrong == 0; }
};

struct CompareOptions {
  PrecisionPolicy policy;
  bool exact = false;  // integer-valued inputs to an exact graph: equal bit for bit (-0 equals 0)
  int threads = 1;
  // Inputs on which values vary as in use: errors are measured against how far values lie from their mean,
  // and each value of a product of exponentials counts by itself. Not on constant or extreme inputs, where
  // nothing varies.
  bool ordinary = false;
  bool no_outliers = false;      // among the inputs: long sums must then be good to KernelBench's criterion
  bool stop_when_wrong = false;  // enough to know that it is wrong: the figures are then of a part only
};

// `actual` holds the candidate's raw elements of expected.dtype and expected.shape.
Comparison compare_output(const ExpectedOutput& expected, std::span<const std::byte> actual,
                          const CompareOptions& options);

// Whether an element of a floating type still holds what was there before the call: a NaN that no arithmetic
// makes, and no result where the truth is NaN.
bool is_untouched(DType dtype, const std::byte* data, std::int64_t index);

// Whether `index` reaches as good a value as the one that element `element` of an output of indices should
// hold. REQUIRES: expected.index_source.
bool index_as_good(const ExpectedOutput& expected, const PrecisionPolicy& policy, std::int64_t element,
                   std::int64_t index);

// The elements as double (integers too), for samples and messages.
double element_as_double(DType dtype, const std::byte* data, std::int64_t index);

}  // namespace kforge

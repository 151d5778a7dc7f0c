// The padded copy of an image that convolutions read in place.
#pragma once

#include "smith/contract/convolution.h"

namespace kforge::smith {

// [channel][depth][height][phase of the column stride][width / stride]; strides in floats.
struct StagedImage {
  long depth = 1, height = 1, width = 1;  // with padding; width of one phase
  long phases = 1;                        // columns w with w % phases alike lie together
  long row = 1, plane = 1, channel = 1;   // strides
  std::vector<long> begins;               // padding in front, three entries
};

// `low` and `high`: for each of three dimensions the first and last input position that is read (may lie
// outside).
StagedImage plan_staging(const std::vector<long>& low, const std::vector<long>& high, long phases);
Staging staging_of(const Convolution& convolution, const StagedImage& image);

// Spatial lists brought to three entries (depth, height, width), filled with `fill` in front.
std::vector<long> three(const std::vector<long>& list, long fill);

}  // namespace kforge::smith

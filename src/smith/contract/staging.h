// The padded copy of an image that convolutions read in place.
#pragma once

#include <string>
#include <vector>

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

struct Staging {
  std::string tensor;  // what is copied
  long channels = 1;
  std::vector<long> input;  // three entries
  StagedImage image;
  long items = 1;             // images and groups, each with a copy of its own
  long batches_per_item = 1;  // consecutive batch indices that read the same copy

  // Of one copy, with slack at its end: whole vectors are read behind the last row.
  long floats() const { return channels * image.channel + 256; }
  // Each thread copies an image and filters it while it is in its cache; all images first only where they are
  // fewer than the threads.
  bool private_to_threads(int threads) const { return items % threads == 0 || items >= 4L * threads; }
};

// Spatial lists brought to three entries (depth, height, width), filled with `fill` in front.
std::vector<long> three(const std::vector<long>& list, long fill);
long product(const std::vector<long>& list);

}  // namespace kforge::smith

#include "smith/contract/staging.h"

namespace kforge::smith {

std::vector<long> three(const std::vector<long>& list, long fill) {
  std::vector<long> out(3 - list.size(), fill);
  out.insert(out.end(), list.begin(), list.end());
  return out;
}

long product(const std::vector<long>& list) {
  long p = 1;
  for (long x : list) p *= x;
  return p;
}

StagedImage plan_staging(const std::vector<long>& low, const std::vector<long>& high, long phases) {
  StagedImage image;
  image.begins = {-low[0], -low[1], -low[2]};
  image.depth = high[0] - low[0] + 1;
  image.height = high[1] - low[1] + 1;
  image.phases = phases;
  image.width = (high[2] - low[2] + phases) / phases;
  image.row = image.width * phases;
  image.plane = image.height * image.row;
  image.channel = (image.depth * image.plane + 15) / 16 * 16;
  // Channels that lie a multiple of 4 KB apart would share cache sets.
  if (image.channel % 256 == 0) image.channel += 16;
  return image;
}

}  // namespace kforge::smith

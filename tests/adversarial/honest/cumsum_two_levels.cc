// A scan in blocks: sums of blocks first, offsets next, then the elements.
//
// task: core/cumsum
// shapes: odd
// mode: check
// expect: outcome=passed
// kforge: general
#include <vector>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  constexpr long kBlock = 16, kBlocks = (task::D + kBlock - 1) / kBlock;
#pragma omp parallel for
  for (long b = 0; b < task::B; ++b) {
    const float* row = x + b * task::D;
    std::vector<float> offsets(kBlocks + 1);
    for (long block = 0; block < kBlocks; ++block) {
      float sum = 0;
      for (long d = block * kBlock; d < task::D && d < (block + 1) * kBlock; ++d) sum += row[d];
      offsets[block + 1] = offsets[block] + sum;
    }
    for (long block = 0; block < kBlocks; ++block) {
      float sum = 0;
      for (long d = block * kBlock; d < task::D && d < (block + 1) * kBlock; ++d)
        y[b * task::D + d] = offsets[block] + (sum += row[d]);
    }
  }
}

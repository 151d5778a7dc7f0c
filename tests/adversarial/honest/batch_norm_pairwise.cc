// Moments of each image joined by Chan's formula.
//
// task: core/batch_norm
// shapes: odd
// mode: check
// expect: outcome=passed
#include <cmath>

#include "task.h"

extern "C" void kernel(const float* x, const float* scale, const float* bias, float* y) {
  constexpr long kPlane = task::H * task::W;
  for (long c = 0; c < task::C; ++c) {
    float mean = 0, apart = 0, count = 0;
    for (long b = 0; b < task::B; ++b) {
      const float* plane = x + (b * task::C + c) * kPlane;
      float sum = 0, squares = 0;
      for (long i = 0; i < kPlane; ++i) sum += plane[i];
      const float own = sum / kPlane, difference = own - mean;
      for (long i = 0; i < kPlane; ++i) squares += (plane[i] - own) * (plane[i] - own);
      apart += squares + difference * difference * count * kPlane / (count + kPlane);
      count += kPlane;
      mean += difference * kPlane / count;
    }
    const float factor = scale[c] / std::sqrt(apart / count + 1e-5f);
    for (long b = 0; b < task::B; ++b)
      for (long i = 0; i < kPlane; ++i) {
        const long at = (b * task::C + c) * kPlane + i;
        y[at] = (x[at] - mean) * factor + bias[c];
      }
  }
}

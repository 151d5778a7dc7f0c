// The window's sum moves along: one element comes in, one goes out. A NaN stays in it to the end of the row.
//
// task: core/avg_pool1d
// shapes: small
// mode: check
// expect: outcome=passed
#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  constexpr long kWindow = 8, kPad = 4, kOut = task::L + 2 * kPad - kWindow + 1;
  for (long row = 0; row < task::B * task::C; ++row) {
    auto at = [&](long i) { return i >= 0 && i < task::L ? double{x[row * task::L + i]} : 0.0; };
    double sum = 0;
    for (long i = -kPad; i < kWindow - kPad; ++i) sum += at(i);
    for (long i = 0; i < kOut; ++i) {
      y[row * kOut + i] = static_cast<float>(sum / kWindow);
      sum += at(i + kWindow - kPad) - at(i - kPad);
    }
  }
}

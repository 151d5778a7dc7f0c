// Operators that no loop nest describes.
#include "check.h"
#include "kernel_cases.h"
#include "smith/kernels/operators/det.h"
#include "smith/kernels/operators/grid_sample.h"
#include "smith/kernels/operators/recurrent.h"
#include "smith/kernels/operators/roi_align.h"
#include "smith/kernels/operators/top_k.h"

namespace kforge {
namespace {

const char* best_of_many() {
  static float x[2 * 300 * 3], values[2 * 5 * 3];
  static int64_t places[2 * 5 * 3];
  Numbers numbers;
  numbers.fill(x);
  x[17] = NAN;
  top_k<float, 2, 300, 3, 5, true>(x, values, places);
  for (long column = 0; column < 6; ++column) {
    const float* const from = x + column / 3 * 900 + column % 3;
    for (long r = 0; r < 5; ++r) {
      const long at = column / 3 * 15 + r * 3 + column % 3;
      const float value = values[at];
      if (from[places[at] * 3] != value && value == value)
        return wrong("place", from[places[at] * 3], value, at);
      if (r > 0 && values[at - 3] == values[at] && places[at - 3] > places[at])
        return wrong("order", 0, 1, at);
      long better = 0;
      for (long i = 0; i < 300; ++i)
        better += from[i * 3] > value || (from[i * 3] != from[i * 3] && value == value);
      if (better > r) return wrong("better ones", better, r, at);
    }
  }
  return nullptr;
}

const char* determinants_of_known_matrices() {
  double a[] = {0, 2, 3, 4, 1, 2, 2, 4}, y[2];  // a pivot of zero; a singular matrix
  determinants<double, 2, 2>(a, y);
  if (y[0] != -6) return wrong("det", y[0], -6);
  return y[1] == 0 ? nullptr : wrong("det", y[1], 0);
}

const char* samples_of_a_plane() {
  const float x[] = {0, 1, 2, 3, 4, 5}, grid[] = {-1, -1, 1, 1, 0, 0};  // corners, and the middle
  float y[3];
  grid_sample<float, Sampling::kLinear, Padding::kZeros, true, 1, 1, 2, 3, 3>(x, grid, y);
  if (y[0] != 0 || y[1] != 5 || y[2] != 2.5f) return wrong("aligned", y[2], 2.5);
  grid_sample<float, Sampling::kNearest, Padding::kBorder, false, 1, 1, 2, 3, 3>(x, grid, y);
  if (y[0] != 0 || y[1] != 5) return wrong("border", y[1], 5);
  grid_sample<float, Sampling::kCubic, Padding::kReflection, true, 1, 1, 2, 3, 3>(x, grid, y);
  return std::fabs(y[0]) < 1e-6 && std::fabs(y[1] - 5) < 1e-6 ? nullptr : wrong("cubic", y[1], 5);
}

const char* regions_of_a_plane() {
  const float x[] = {1, 1, 1, 1, 1, 1, 1, 1, 9}, boxes[] = {0, 0, 2, 2};
  const int64_t images[] = {-1};
  float y[1];
  roi_align<float>({.rois = 1,
                    .images = 1,
                    .channels = 1,
                    .height = 3,
                    .width = 3,
                    .out_height = 1,
                    .out_width = 1,
                    .ratio = 1,
                    .scale = 1,
                    .shift = 0,
                    .least_one = true,
                    .largest = false},
                   x, boxes, images, y);
  return y[0] == 1 ? nullptr : wrong("mean", y[0], 1);
}

// All weights alike: every unit is the same scalar recurrence. The second sequence ends after one step.
const char* recurrent_steps() {
  static float w[4 * 3 * 3], x[2 * 2 * 4 * 3], state[6], next[6], cell[6], y[2 * 6];
  const int32_t lengths[] = {2, 1};
  for (float& v : w) v = 0.1f;
  for (float& v : x) v = 0.2f;
  for (float* list : {state, cell})
    for (int i = 0; i < 6; ++i) list[i] = 0;
  const auto sigmoid = [](long, float v) -> float { return 1 / (1 + std::exp(-v)); };
  const auto tanh = [](long, float v) -> float { return std::tanh(v); };
  lstm_steps<false>(Recurrence<float, 1, 4, 3, 2, 2>{.reversed = false,
                                                     .limit = __builtin_inff(),
                                                     .weights = w,
                                                     .products = x,
                                                     .bias = nullptr,
                                                     .lengths = lengths,
                                                     .state = state,
                                                     .next = next,
                                                     .y = y},
                    cell, (const float*)nullptr, sigmoid, tanh, tanh);
  double h = 0, c = 0, want[2];
  for (double& step : want) {
    const double gate = 0.2 + 0.3 * h, open = 1 / (1 + std::exp(-gate));
    c = open * c + open * std::tanh(gate);
    step = h = open * std::tanh(c);
  }
  if (std::fabs(y[0] - want[0]) > 1e-6 || std::fabs(y[6] - want[1]) > 1e-6)
    return wrong("lstm", y[6], want[1]);
  if (y[9] != 0 || std::fabs(state[3] - want[0]) > 1e-6) return wrong("ended", state[3], want[0]);
  return nullptr;
}

}  // namespace

DEFINE_KERNEL_CASES(operators, {"BestOfMany", best_of_many},
                    {"DeterminantsOfKnownMatrices", determinants_of_known_matrices},
                    {"SamplesOfAPlane", samples_of_a_plane}, {"RegionsOfAPlane", regions_of_a_plane},
                    {"RecurrentSteps", recurrent_steps});

}  // namespace kforge

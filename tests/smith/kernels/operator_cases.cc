// Operators that no loop nest describes.
#include "check.h"
#include "kernel_cases.h"
#include "smith/kernels/math/sigmoid.h"
#include "smith/kernels/math/tanh.h"
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

// Units of one cell, against the same in double. 19 units: a whole group of 16 and a part of one; the second
// of three sequences ends early. Weights lie in groups of 16, as the kernels want them.
constexpr long kHiddenUnits = 19, kSequences = 3, kTimes = 3;
float unit_weight(long gate, long unit, long from) {
  return 0.02f * static_cast<float>((gate * 7 + unit * 3 + from * 5) % 11 - 5);
}
float unit_input(long step, long sequence, long gate, long unit) {
  return 0.1f * static_cast<float>((step * 5 + sequence * 3 + gate * 2 + unit) % 13 - 6);
}
constexpr auto sigmoid_gate = [](long, auto x) { return sigmoid_of(x); };
constexpr auto tanh_gate = [](long, auto x) { return tanh_of(x); };

template <long kGates>
struct RecurrentCase {
  float w[2 * kHiddenUnits * kGates * 16], x[kTimes * kSequences * kGates * kHiddenUnits];
  float state[kSequences * kHiddenUnits], next[kSequences * kHiddenUnits], cell[kSequences * kHiddenUnits];
  float reset[2 * kSequences * kHiddenUnits], y[kTimes * kSequences * kHiddenUnits];
  int32_t lengths[3] = {3, 1, 3};
  RecurrentCase() : w(), state(), next(), cell(), reset() {
    for (long unit = 0; unit < kHiddenUnits; ++unit)
      for (long gate = 0; gate < kGates; ++gate) {
        for (long k = 0; k < kHiddenUnits; ++k)
          w[((unit / 16 * kHiddenUnits + k) * kGates + gate) * 16 + unit % 16] = unit_weight(gate, unit, k);
        for (long t = 0; t < kTimes; ++t)
          for (long b = 0; b < kSequences; ++b)
            x[((t * kSequences + b) * kGates + gate) * kHiddenUnits + unit] = unit_input(t, b, gate, unit);
      }
  }
  auto recurrence() {
    return Recurrence<float, 1, kGates, kHiddenUnits, kSequences, kTimes>{.reversed = false,
                                                                          .limit = __builtin_inff(),
                                                                          .weights = w,
                                                                          .products = x,
                                                                          .bias = nullptr,
                                                                          .lengths = lengths,
                                                                          .state = state,
                                                                          .next = next,
                                                                          .y = y};
  }
  // next_state(sequence, step, state before, gate sums of the input and of the state: [gate][unit]).
  template <class Next>
  const char* against(const char* what, Next next_state) {
    for (long b = 0; b < kSequences; ++b) {
      double h[kHiddenUnits] = {};
      for (long t = 0; t < kTimes; ++t) {
        if (t < lengths[b]) {
          double after[kHiddenUnits];
          for (long unit = 0; unit < kHiddenUnits; ++unit) after[unit] = next_state(b, t, unit, h);
          for (long unit = 0; unit < kHiddenUnits; ++unit) h[unit] = after[unit];
        }
        for (long unit = 0; unit < kHiddenUnits; ++unit) {
          const double want = t < lengths[b] ? h[unit] : 0,
                       got = y[(t * kSequences + b) * kHiddenUnits + unit];
          if (!(std::fabs(got - want) < 2e-6)) return wrong(what, got, want, unit);
        }
      }
      for (long unit = 0; unit < kHiddenUnits; ++unit)
        if (!(std::fabs(state[b * kHiddenUnits + unit] - h[unit]) < 2e-6))
          return wrong("last state", state[b * kHiddenUnits + unit], h[unit], unit);
    }
    return nullptr;
  }
};
double unit_sum(long gate, long unit, const double* h) {
  double sum = 0;
  for (long k = 0; k < kHiddenUnits; ++k) sum += double(unit_weight(gate, unit, k)) * h[k];
  return sum;
}
double unit_gate(long t, long b, long gate, long unit, const double* h) {
  return unit_input(t, b, gate, unit) + unit_sum(gate, unit, h);
}
double open_gate(double v) { return 1 / (1 + std::exp(-v)); }

const char* recurrent_lstm() {
  static RecurrentCase<4> c;
  lstm_steps<false>(c.recurrence(), c.cell, (const float*)nullptr, sigmoid_gate, tanh_gate, tanh_gate);
  static double cell[kSequences][kHiddenUnits];
  return c.against("lstm", [&](long b, long t, long unit, const double* h) {
    double& now = cell[b][unit];
    now = open_gate(unit_gate(t, b, 2, unit, h)) * now +
          open_gate(unit_gate(t, b, 0, unit, h)) * std::tanh(unit_gate(t, b, 3, unit, h));
    return open_gate(unit_gate(t, b, 1, unit, h)) * std::tanh(now);
  });
}
// The reset before the candidate's product, and after it.
const char* recurrent_gru() {
  static RecurrentCase<3> before, after;
  gru_steps(before.recurrence(), before.reset, sigmoid_gate, tanh_gate);
  gru_steps(after.recurrence(), (float*)nullptr, sigmoid_gate, tanh_gate);
  const auto mixed = [](long b, long t, long unit, const double* h, double candidate) {
    const double z = open_gate(unit_gate(t, b, 0, unit, h));
    return (1 - z) * std::tanh(unit_input(t, b, 2, unit) + candidate) + z * h[unit];
  };
  if (auto bad = before.against("gru", [&](long b, long t, long unit, const double* h) {
        double seen[kHiddenUnits];
        for (long k = 0; k < kHiddenUnits; ++k) seen[k] = open_gate(unit_gate(t, b, 1, k, h)) * h[k];
        return mixed(b, t, unit, h, unit_sum(2, unit, seen));
      }))
    return bad;
  return after.against("gru, reset after", [&](long b, long t, long unit, const double* h) {
    return mixed(b, t, unit, h, open_gate(unit_gate(t, b, 1, unit, h)) * unit_sum(2, unit, h));
  });
}

}  // namespace

DEFINE_KERNEL_CASES(operators, {"BestOfMany", best_of_many},
                    {"DeterminantsOfKnownMatrices", determinants_of_known_matrices},
                    {"SamplesOfAPlane", samples_of_a_plane}, {"RegionsOfAPlane", regions_of_a_plane},
                    {"RecurrentLstm", recurrent_lstm}, {"RecurrentGru", recurrent_gru});

}  // namespace kforge

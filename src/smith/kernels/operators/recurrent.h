// RNN, GRU and LSTM: what depends on the step before. Products with the input have been made for all steps at
// once. In a step a thread takes groups of 16 hidden units: the products of the state with their weights, for
// some sequences and all gates, stay in registers until they are the units' new state, and only then do
// threads wait for each other. A sequence that has ended keeps its state, and its outputs are zero from there
// on.
#pragma once

#include <cstdint>
#include <utility>

#include "smith/kernels/vectors/vectors.h"

namespace {

template <class T, long kDirections, long kGates, long kHidden, long kBatch, long kSteps>
struct Recurrence {
  using V = std::conditional_t<sizeof(T) == 4, Vec, T>;
  static constexpr long kWide = sizeof(V) / sizeof(T);
  static constexpr long kGroup = sizeof(T) == 4 ? 16 : 1;  // hidden units whose weights lie side by side
  static constexpr long kVectors = kGroup / kWide, kGroups = (kHidden + kGroup - 1) / kGroup;
  static constexpr long kUnits = kDirections * kBatch * kHidden, kPerSequence = kHidden;

  bool reversed;           // its one direction runs backwards
  T limit;                 // what goes into activations is clipped to it
  const T* weights;        // [direction][group][hidden][gate][kGroup], zeros behind the last unit
  const T* products;       // with the input: [direction][step][batch][gate][hidden]
  const T* bias;           // [direction][gate][kGroups * kGroup], or null
  const int32_t* lengths;  // [batch], or null
  T* state;                // [direction][batch][hidden]
  T* next;                 // the same; they change places in every step
  T* y;                    // [step][direction][batch][hidden]

  // Neighbouring hidden units of one sequence in one step.
  struct Units {
    long d, b, j, count;  // of direction d and sequence b the units from j on, kWide of them or fewer
    long at;              // of the first among all units
    long time;            // the step of the sequence that this is
    V h;                  // their state before
    V x[kGates];          // gates of the input
  };
  // The first `count` elements; what lies behind them is not touched.
  static V load_units(const T* p, long count) {
    if constexpr (kWide == 1) {
      return *p;
    } else {
      if (count == kWide) return load<V>(p);
      V v = {};
      for (long i = 0; i < count; ++i) v[i] = p[i];
      return v;
    }
  }
  static void store_units(T* p, V v, long count) {
    if constexpr (kWide == 1) {
      *p = v;
    } else {
      if (count == kWide) return store(p, v);
      for (long i = 0; i < count; ++i) p[i] = v[i];
    }
  }
  V clipped(V v) const {
    if constexpr (kWide == 1)
      return v < -limit ? -limit : v > limit ? limit : v;
    else
      return pick(v < -limit, set<V>(-limit), pick(v > limit, set<V>(limit), v));
  }

  // Products of `rows` sequences, from `first_row` on, with the weights of gates [kFirst, kFirst + gates) of
  // a group. `with`: [batch][hidden] of the direction. Several chains of sums where one would wait for
  // itself.
  template <int kFirst, int gates, int rows>
  SMITH_INLINE void multiply(long d, long group, long first_row, const T* with,
                             V (&out)[rows][gates][kVectors]) const {
    constexpr int together = rows * gates * kVectors, chains = together >= 8 ? 1 : together >= 4 ? 2 : 4;
    V sum[chains][rows][gates][kVectors];
#pragma GCC unroll 4
    for (int c = 0; c < chains; ++c)
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
        for (int g = 0; g < gates; ++g)
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) sum[c][i][g][v] = V{};
    const T* const panel = weights + ((d * kGroups + group) * kHidden * kGates + kFirst) * kGroup;
    const T* const rows_of = with + first_row * kHidden;
    const auto add = [&](long k, int c) {
      const T* const w = panel + k * kGates * kGroup;
#pragma GCC unroll 4
      for (int g = 0; g < gates; ++g)
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          const V column = load_units(w + g * kGroup + v * kWide, kWide);
#pragma GCC unroll 8
          for (int i = 0; i < rows; ++i) sum[c][i][g][v] += rows_of[i * kHidden + k] * column;
        }
    };
    long k = 0;
    for (; k + chains <= kHidden; k += chains)
#pragma GCC unroll 4
      for (int c = 0; c < chains; ++c) add(k + c, c);
    for (; k < kHidden; ++k) add(k, 0);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
      for (int g = 0; g < gates; ++g)
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          V total = sum[0][i][g][v];
#pragma GCC unroll 4
          for (int c = 1; c < chains; ++c) total += sum[c][i][g][v];
          if (bias)
            total +=
                load_units(bias + ((d * kGates + kFirst + g) * kGroups + group) * kGroup + v * kWide, kWide);
          out[i][g][v] = total;
        }
  }

  // value(units, sums of gates [kFirst, kFirst + gates)) for every unit of step t that runs; `ended` for the
  // others. `with` is what the weights are multiplied with. REQUIRES: called by every thread of the team.
  template <int kFirst, int gates, class Value, class Ended>
  void each(long t, const T* with, const T* before, Value value, Ended ended) const {
    // As many sequences as registers hold sums for, in parts that differ by one at most.
    constexpr int most = (kLanes == 16 ? 24 : 12) / (gates * int(kVectors));
    constexpr long blocks = most < 1 ? kBatch : (kBatch + (most > 8 ? 8 : most) - 1) / (most > 8 ? 8 : most);
    constexpr int rows = (kBatch + blocks - 1) / blocks;
    constexpr long tall = kBatch - blocks * (rows - 1);  // blocks of `rows`; the others have one fewer
    const auto block = [&](long i) {
      const long d = i / (kGroups * blocks), group = i / blocks % kGroups, part = i % blocks;
      if constexpr (tall < blocks)
        if (part >= tall)
          return finish<kFirst, gates, rows - 1>(t, d, group, tall * rows + (part - tall) * (rows - 1), with,
                                                 before, value, ended);
      finish<kFirst, gates, rows>(t, d, group, part * rows, with, before, value, ended);
    };
    if constexpr (kAlone) {
      for (long i = 0; i < kDirections * kGroups * blocks; ++i) block(i);
    } else {
#pragma omp for schedule(static)
      for (long i = 0; i < kDirections * kGroups * blocks; ++i) block(i);
    }
  }
  template <int kFirst, int gates, int rows, class Value, class Ended>
  __attribute__((noinline)) void finish(long t, long d, long group, long first_row, const T* with,
                                        const T* before, Value value, Ended ended) const {
    V sums[rows][gates][kVectors];
    multiply<kFirst, gates, rows>(d, group, first_row, with + d * kBatch * kHidden, sums);
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < kVectors; ++v) {
        Units u;
        u.d = d, u.b = first_row + i, u.j = group * kGroup + v * kWide;
        u.count = kHidden - u.j < kWide ? kHidden - u.j : kWide;
        if (u.count <= 0) break;
        u.at = (d * kBatch + u.b) * kHidden + u.j;
        u.h = load_units(before + u.at, u.count);
        const long length = lengths ? lengths[u.b] : kSteps;
        u.time = t;
        if (t >= length) {
          ended(u);
          continue;
        }
        if (reversed || d == 1) u.time = length - 1 - t;
        const T* const x = products + ((d * kSteps + u.time) * kBatch + u.b) * kGates * kHidden + u.j;
        for (int g = 0; g < kGates; ++g) u.x[g] = load_units(x + g * kHidden, u.count);
        V own[gates];
        for (int g = 0; g < gates; ++g) own[g] = sums[i][g][v];
        value(u, own);
      }
  }
  T* output(const Units& u) const {
    return y + ((u.time * kDirections + u.d) * kBatch + u.b) * kHidden + u.j;
  }

  // So little in a step that waking and waiting for others takes longer.
  static constexpr bool kAlone = kDirections * kBatch * kHidden * kHidden * kGates < 32768;

  // step(t, state before, state after) for every step; the last state ends up in `state`.
  template <class Step>
  void run(Step step) const {
    if constexpr (kAlone) {
#pragma omp single
      steps(step);
    } else {
      steps(step);
    }
  }

 private:
  template <class Step>
  void steps(Step step) const {
    for (long t = 0; t < kSteps; ++t) step(t, t % 2 == 0 ? state : next, t % 2 == 0 ? next : state);
    if constexpr (kSteps % 2 == 1) {
      const auto copy = [&](long i) { state[i] = next[i]; };
      if constexpr (kAlone) {
        for (long i = 0; i < kUnits; ++i) copy(i);
      } else {
#pragma omp for schedule(static)
        for (long i = 0; i < kUnits; ++i) copy(i);
      }
    }
  }
};

// A cell whose gates all see the state: after = value(units, sums of the gates).
template <int gates, class R, class Value>
SMITH_INLINE void gated_steps(const R& r, Value value) {
  using V = typename R::V;
  r.run([&](long t, const auto* before, auto* after) {
    r.template each<0, gates>(
        t, before, before,
        [&](const auto& u, V(&sums)[gates]) {
          const V h = value(u, sums);
          R::store_units(after + u.at, h, u.count);
          R::store_units(r.output(u), h, u.count);
        },
        [&](const auto& u) {
          R::store_units(after + u.at, u.h, u.count);
          R::store_units(r.output(u), V{}, u.count);
        });
  });
}

// Activations are called f, g, h as in ONNX; each takes the direction and a vector of values.
template <class R, class F>
inline void rnn_steps(const R& r, F f) {
  gated_steps<1>(r, [&](const auto& u, auto& sums) { return f(u.d, r.clipped(u.x[0] + sums[0])); });
}

// Gates z (update), r (reset), h (candidate). `reset`: two of [direction][batch][hidden], the state as the
// candidate sees it and the update gate; null where the reset comes after the candidate's product.
template <class R, class T, class F, class G>
inline void gru_steps(const R& r, T* reset, F f, G g) {
  using V = typename R::V;
  const auto mixed = [](V z, V candidate, V h) { return (1 - z) * candidate + z * h; };
  if (!reset) {
    gated_steps<3>(r, [&](const auto& u, auto& sums) {
      const V z = f(u.d, r.clipped(u.x[0] + sums[0])), s = f(u.d, r.clipped(u.x[1] + sums[1]));
      return mixed(z, g(u.d, r.clipped(u.x[2] + s * sums[2])), u.h);
    });
    return;
  }
  T* const updates = reset + R::kUnits;
  r.run([&](long t, const T* before, T* after) {
    r.template each<0, 2>(
        t, before, before,
        [&](const auto& u, V(&sums)[2]) {
          R::store_units(updates + u.at, f(u.d, r.clipped(u.x[0] + sums[0])), u.count);
          R::store_units(reset + u.at, f(u.d, r.clipped(u.x[1] + sums[1])) * u.h, u.count);
        },
        [&](const auto& u) { R::store_units(reset + u.at, V{}, u.count); });
    r.template each<2, 1>(
        t, reset, before,
        [&](const auto& u, V(&sums)[1]) {
          const V z = R::load_units(updates + u.at, u.count);
          const V h = mixed(z, g(u.d, r.clipped(u.x[2] + sums[0])), u.h);
          R::store_units(after + u.at, h, u.count);
          R::store_units(r.output(u), h, u.count);
        },
        [&](const auto& u) {
          R::store_units(after + u.at, u.h, u.count);
          R::store_units(r.output(u), V{}, u.count);
        });
  });
}

// Gates i (input), o (output), f (forget), c (cell). `cells`: [direction][batch][hidden]; `peepholes` for i,
// o and f: [direction][3][hidden], or null. kCoupled: what is not let in is forgotten.
template <bool kCoupled, class R, class T, class F, class G, class H>
inline void lstm_steps(const R& r, T* cells, const T* peepholes, F f, G g, H h) {
  using V = typename R::V;
  gated_steps<4>(r, [&](const auto& u, auto& sums) {
    V cell = R::load_units(cells + u.at, u.count);
    const auto gate = [&](int which, int peephole) {
      V sum = u.x[which] + sums[which];
      if (peepholes && peephole >= 0)
        sum += R::load_units(peepholes + (u.d * 3 + peephole) * R::kPerSequence + u.j, u.count) * cell;
      return r.clipped(sum);
    };
    const V in = f(u.d, gate(0, 0));
    const V forget = kCoupled ? 1 - in : f(u.d, gate(2, 2));
    cell = forget * cell + in * g(u.d, gate(3, -1));
    R::store_units(cells + u.at, cell, u.count);
    return f(u.d, gate(1, 1)) * h(u.d, cell);  // the output gate peeps at the new cell
  });
}

}  // namespace

// RNN, GRU and LSTM: what depends on the step before. Products with the input have been made for all steps at
// once; the hidden units of a step are shared out among the threads. A sequence that has ended keeps its
// state, and its outputs are zero from there on.
#pragma once

#include <cstdint>

namespace {

template <class T, long kDirections, long kGates, long kHidden, long kBatch, long kSteps>
struct Recurrence {
  bool reversed;           // its one direction runs backwards
  T limit;                 // what goes into activations is clipped to it
  const T* weights;        // [direction][gate][hidden][hidden]
  const T* products;       // with the input: [direction][step][batch][gate][hidden]
  const T* bias;           // [direction][2][gate][hidden], or null
  const int32_t* lengths;  // [batch], or null
  T* state;                // [direction][batch][hidden]
  T* next;                 // [batch][hidden]
  T* y;                    // [step][direction][batch][hidden]

  // One hidden unit in one step.
  struct Unit {
    long d, time, i, b, j;
    bool runs;   // the sequence has not ended
    const T* x;  // gates of the input
    const T* h;  // the state before
  };
  Unit unit(long d, long t, long i) const {
    Unit u = {d, t, i, i / kHidden, i % kHidden};
    const long length = lengths ? lengths[u.b] : kSteps;
    u.runs = t < length;
    if (u.runs && (reversed || d == 1)) u.time = length - 1 - t;
    u.x = products + ((d * kSteps + u.time) * kBatch + u.b) * kGates * kHidden;
    u.h = state + (d * kBatch + u.b) * kHidden;
    return u;
  }
  T product(const Unit& u, long gate, const T* with) const {
    const T* const row = weights + ((u.d * kGates + gate) * kHidden + u.j) * kHidden;
    T sum = 0;
    for (long k = 0; k < kHidden; ++k) sum += row[k] * with[k];
    return bias ? sum + bias[((u.d * 2 + 1) * kGates + gate) * kHidden + u.j] : sum;
  }
  T clipped(T v) const { return v < -limit ? -limit : v > limit ? limit : v; }
  T gate(const Unit& u, long gate, const T* with, T more = 0) const {
    return clipped(u.x[gate * kHidden + u.j] + product(u, gate, with) + more);
  }

  // before(d, t), then for every unit next = value(unit). Called by every thread of a team.
  template <class Before, class Value>
  void run(Before before, Value value) const {
    for (long d = 0; d < kDirections; ++d)
      for (long t = 0; t < kSteps; ++t) {
        before(d, t);
#pragma omp for schedule(static)
        for (long i = 0; i < kBatch * kHidden; ++i) {
          const Unit u = unit(d, t, i);
          next[i] = u.runs ? value(u) : u.h[u.j];
          y[((u.time * kDirections + d) * kBatch + u.b) * kHidden + u.j] = u.runs ? next[i] : 0;
        }
#pragma omp for schedule(static)
        for (long i = 0; i < kBatch * kHidden; ++i) state[d * kBatch * kHidden + i] = next[i];
      }
  }
  static constexpr auto nothing = [](long, long) {};
  static constexpr long hidden = kHidden, batch = kBatch;
};

// Activations are called f, g, h as in ONNX; each takes the direction and a value.
template <class R, class F>
inline void rnn_steps(const R& r, F f) {
  r.run(R::nothing, [&](const auto& u) { return f(u.d, r.gate(u, 0, u.h)); });
}

// Gates z (update), r (reset), h (candidate). `reset`: [batch][hidden], the state as the candidate sees it;
// null where the reset comes after the candidate's product.
template <class R, class T, class F, class G>
inline void gru_steps(const R& r, T* reset, F f, G g) {
  const auto resets = [&](long d, long t) {
    if (!reset) return;
#pragma omp for schedule(static)
    for (long i = 0; i < R::batch * R::hidden; ++i) {
      const auto u = r.unit(d, t, i);
      reset[i] = u.runs ? f(d, r.gate(u, 1, u.h)) * u.h[u.j] : 0;
    }
  };
  r.run(resets, [&](const auto& u) {
    const T z = f(u.d, r.gate(u, 0, u.h));
    const T from_state =
        reset ? r.product(u, 2, reset + u.b * R::hidden) : f(u.d, r.gate(u, 1, u.h)) * r.product(u, 2, u.h);
    const T candidate = g(u.d, r.clipped(u.x[2 * R::hidden + u.j] + from_state));
    return (1 - z) * candidate + z * u.h[u.j];
  });
}

// Gates i (input), o (output), f (forget), c (cell). `cells`: [direction][batch][hidden]; `peepholes` for i,
// o and f: [direction][3][hidden], or null. kCoupled: what is not let in is forgotten.
template <bool kCoupled, class R, class T, class F, class G, class H>
inline void lstm_steps(const R& r, T* cells, const T* peepholes, F f, G g, H h) {
  r.run(R::nothing, [&](const auto& u) {
    T& cell = cells[u.d * R::batch * R::hidden + u.i];
    const auto peep = [&](long which) -> T {
      return peepholes ? peepholes[(u.d * 3 + which) * R::hidden + u.j] * cell : 0;
    };
    const T in = f(u.d, r.gate(u, 0, u.h, peep(0)));
    const T forget = kCoupled ? 1 - in : f(u.d, r.gate(u, 2, u.h, peep(2)));
    cell = forget * cell + in * g(u.d, r.gate(u, 3, u.h));
    return f(u.d, r.gate(u, 1, u.h, peep(1))) * h(u.d, cell);
  });
}

}  // namespace

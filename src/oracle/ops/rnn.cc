// RNN, GRU and LSTM. The part of the gates that comes from the input is computed for all steps at once; what
// depends on the previous step follows step by step. A sequence that has ended keeps its state, and its
// outputs are zero from there on.
#include "oracle/ops/rnn_cell.h"

namespace kforge {
namespace {

// Runs all steps of all directions. advance(direction, step, h) computes the new state of every sequence from
// the input products of its time, and returns it; sequences that have ended are left alone here.
template <class F, class Advance>
Outputs<F> run_steps(const Call<F>& call, const Recurrent<F>& rnn, const Advance& advance) {
  const std::int64_t state = rnn.batch * rnn.hidden;
  std::vector<F> y(
      static_cast<std::size_t>(checked_count({rnn.steps, rnn.directions, rnn.batch, rnn.hidden})));
  std::vector<F> last = rnn.initial_h;
  for (std::int64_t d = 0; d < rnn.directions; ++d) {
    std::vector<F> h(last.begin() + d * state, last.begin() + (d + 1) * state);
    const std::vector<F> from_input = rnn.input_products(d);
    for (std::int64_t t = 0; t < rnn.steps; ++t) {
      const std::vector<F> next = advance(d, t, from_input, h);
      for (std::int64_t b = 0; b < rnn.batch; ++b) {
        const std::int64_t length = rnn.lengths[static_cast<std::size_t>(b)];
        if (t >= length) continue;
        const std::int64_t time = rnn.time_of(d, t, length);
        std::copy_n(next.begin() + b * rnn.hidden, rnn.hidden, h.begin() + b * rnn.hidden);
        std::copy_n(next.begin() + b * rnn.hidden, rnn.hidden,
                    y.begin() + ((time * rnn.directions + d) * rnn.batch + b) * rnn.hidden);
      }
    }
    std::copy(h.begin(), h.end(), last.begin() + d * state);
  }
  const DType dtype = call.in(0).dtype();
  return {rnn.all_outputs(std::move(y), dtype), rnn.last_state(std::move(last), dtype)};
}

// For every sequence still running and every hidden unit: unit(b, j, gate inputs of b, recurrent part of b).
template <class F, class Unit>
std::vector<F> for_each_unit(const Recurrent<F>& rnn, std::int64_t direction, std::int64_t t,
                             const std::vector<F>& from_input, const Unit& unit) {
  std::vector<F> next(static_cast<std::size_t>(rnn.batch * rnn.hidden));
  for (std::int64_t b = 0; b < rnn.batch; ++b) {
    const std::int64_t length = rnn.lengths[static_cast<std::size_t>(b)];
    if (t >= length) continue;
    const std::int64_t time = rnn.time_of(direction, t, length);
    const F* gates = from_input.data() + (time * rnn.batch + b) * rnn.gates * rnn.hidden;
    for (std::int64_t j = 0; j < rnn.hidden; ++j)
      next[static_cast<std::size_t>(b * rnn.hidden + j)] = unit(b, j, gates);
  }
  return next;
}

}  // namespace

KF_ORACLE_OPERATOR(RNN) {
  const Recurrent<F> rnn(call, 1);
  return run_steps(
      call, rnn,
      [&](std::int64_t d, std::int64_t t, const std::vector<F>& from_input, const std::vector<F>& h) {
        const auto f = activation(call, static_cast<std::size_t>(d), {"Tanh"});
        const std::vector<F> from_state = rnn.recurrent_products(d, h, 0, 1);
        return for_each_unit(rnn, d, t, from_input, [&](std::int64_t b, std::int64_t j, const F* x) {
          return f(rnn.clipped(x[j] + from_state[static_cast<std::size_t>(b * rnn.hidden + j)]));
        });
      });
}

// Gates z (update), r (reset), h (candidate).
KF_ORACLE_OPERATOR(GRU) {
  const Recurrent<F> rnn(call, 3);
  const bool linear_before_reset = call.int_attr("linear_before_reset", 0) != 0;
  const std::int64_t n = rnn.hidden;
  return run_steps(
      call, rnn,
      [&](std::int64_t d, std::int64_t t, const std::vector<F>& from_input, const std::vector<F>& h) {
        const auto f = activation(call, static_cast<std::size_t>(2 * d), {"Sigmoid", "Tanh"});
        const auto g = activation(call, static_cast<std::size_t>(2 * d + 1), {"Sigmoid", "Tanh"});
        const std::vector<F> both = rnn.recurrent_products(d, h, 0, 2);  // of z and r
        auto part = [&](std::int64_t b, std::int64_t gate, std::int64_t j) {
          return both[static_cast<std::size_t>((b * 2 + gate) * n + j)];
        };
        const std::vector<F> reset =
            for_each_unit(rnn, d, t, from_input, [&](std::int64_t b, std::int64_t j, const F* x) {
              return f(rnn.clipped(x[n + j] + part(b, 1, j)));
            });
        std::vector<F> seen = h;  // what the candidate sees of the state
        if (!linear_before_reset)
          for (std::size_t i = 0; i < seen.size(); ++i) seen[i] *= reset[i];
        const std::vector<F> candidate_part = rnn.recurrent_products(d, seen, 2, 1);
        return for_each_unit(rnn, d, t, from_input, [&](std::int64_t b, std::int64_t j, const F* x) {
          const auto i = static_cast<std::size_t>(b * n + j);
          const F z = f(rnn.clipped(x[j] + part(b, 0, j)));
          const F from_state = linear_before_reset ? reset[i] * candidate_part[i] : candidate_part[i];
          const F candidate = g(rnn.clipped(x[2 * n + j] + from_state));
          return (1 - z) * candidate + z * h[i];
        });
      });
}

// Gates i (input), o (output), f (forget), c (cell). P holds peephole weights for i, o and f.
KF_ORACLE_OPERATOR(LSTM) {
  const Recurrent<F> rnn(call, 4);
  const std::int64_t n = rnn.hidden, state = rnn.batch * n;
  const bool coupled = call.int_attr("input_forget", 0) != 0;
  std::vector<F> cell = rnn.initial_state(call, 6);
  std::vector<F> peephole(static_cast<std::size_t>(rnn.directions * 3 * n));
  if (call.has(7)) {
    if (call.in(7).shape() != Shape{rnn.directions, 3 * n})
      refuse("peepholes of shape {}", to_string(call.in(7).shape()));
    peephole = call.floats(7);
  }
  Outputs<F> outputs = run_steps(
      call, rnn,
      [&](std::int64_t d, std::int64_t t, const std::vector<F>& from_input, const std::vector<F>& h) {
        const std::vector<std::string> defaults = {"Sigmoid", "Tanh", "Tanh"};
        const auto f = activation(call, static_cast<std::size_t>(3 * d), defaults);
        const auto g = activation(call, static_cast<std::size_t>(3 * d + 1), defaults);
        const auto hh = activation(call, static_cast<std::size_t>(3 * d + 2), defaults);
        const std::vector<F> from_state = rnn.recurrent_products(d, h, 0, 4);
        const F* peep = peephole.data() + d * 3 * n;
        return for_each_unit(rnn, d, t, from_input, [&](std::int64_t b, std::int64_t j, const F* x) {
          F& c = cell[static_cast<std::size_t>(d * state + b * n + j)];
          auto gate = [&](std::int64_t which, F peeped) {
            return rnn.clipped(x[which * n + j] +
                               from_state[static_cast<std::size_t>((b * 4 + which) * n + j)] + peeped);
          };
          const F in = f(gate(0, peep[j] * c));
          const F forget = coupled ? 1 - in : f(gate(2, peep[2 * n + j] * c));
          c = forget * c + in * g(gate(3, 0));
          return f(gate(1, peep[n + j] * c)) * hh(c);
        });
      });
  outputs.push_back(rnn.last_state(std::move(cell), call.in(0).dtype()));
  return outputs;
}

KF_ORACLE_INSTANTIATE(RNN)
KF_ORACLE_INSTANTIATE(GRU)
KF_ORACLE_INSTANTIATE(LSTM)

}  // namespace kforge

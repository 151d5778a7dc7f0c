// What RNN, GRU and LSTM share: their inputs in one arrangement, the products of whole sequences,
// activations.
#pragma once

#include <functional>
#include <vector>

#include "oracle/call.h"
#include "oracle/gemm.h"

namespace kforge {

// The inputs of a recurrent operator, time first, with everything optional filled in.
// Weights are W[direction][gates * hidden][input], R[direction][gates * hidden][hidden].
template <class F>
struct Recurrent {
  std::int64_t steps, batch, input, hidden, directions, gates;
  std::int64_t threads;
  bool reverse_only;  // one direction, from the end to the beginning
  bool batch_first;   // layout: X and Y have the batch before the time
  Tensor<F> x;        // [steps][batch][input]
  std::vector<F> w, r;
  std::vector<F> w_bias, r_bias;      // [direction][gates * hidden], zero where B is absent
  std::vector<std::int64_t> lengths;  // of every sequence
  std::vector<F> initial_h;           // [direction][batch][hidden]
  F clip;                             // of what goes into activations; infinity where absent

  Recurrent(const Call<F>& call, std::int64_t gate_count);

  bool reversed(std::int64_t direction) const { return reverse_only || direction == 1; }
  // Step `t` in the order of the direction, for a sequence of the given length.
  std::int64_t time_of(std::int64_t direction, std::int64_t t, std::int64_t length) const {
    return reversed(direction) ? length - 1 - t : t;
  }
  // An initial state from an input ([directions][batch][hidden], batch first where layout says so), else
  // zeros.
  std::vector<F> initial_state(const Call<F>& call, std::size_t index) const;
  // X times the transposed input weights, plus the input bias: [steps][batch][gates * hidden].
  std::vector<F> input_products(std::int64_t direction) const;
  // h[batch][hidden] times the transposed recurrent weights of gates [first, first + count): [batch][count *
  // hidden].
  std::vector<F> recurrent_products(std::int64_t direction, const std::vector<F>& h, std::int64_t first,
                                    std::int64_t count) const;
  F clipped(F value) const { return value < -clip ? -clip : value > clip ? clip : value; }

  // Y [steps][directions][batch][hidden] and last states [directions][batch][hidden] as ONNX wants them.
  Tensor<F> all_outputs(std::vector<F> y, DType dtype) const;
  Tensor<F> last_state(std::vector<F> state, DType dtype) const;
};

// Activation `index` of a direction's list; `defaults` are those of the operator, one per role.
template <class F>
std::function<F(F)> activation(const Call<F>& call, std::size_t index,
                               const std::vector<std::string>& defaults);

}  // namespace kforge

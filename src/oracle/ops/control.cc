// If, Loop and Scan: operators with graphs inside.
#include "oracle/call.h"
#include "oracle/ops/operators.h"
#include "oracle/strides.h"

namespace kforge {
namespace {

template <class F>
const Graph& body_of(const Call<F>& call, std::string_view name) {
  const Graph* body = call.node.graph_attr(name);
  if (!body) refuse("attribute {} is missing", name);
  return *body;
}

// Slice `index` along an axis, without the axis.
template <class F>
Tensor<F> slice_at(const Tensor<F>& x, std::int64_t axis, std::int64_t index, int threads) {
  Shape shape = x.shape(), strides = contiguous_strides(x.shape());
  const std::int64_t base = index * strides[static_cast<std::size_t>(axis)];
  shape.erase(shape.begin() + axis);
  strides.erase(strides.begin() + axis);
  return strided_copy(x, shape, base, strides, threads);
}

// Tensors of one shape as slices along a new axis.
template <class F>
Tensor<F> stacked(const Call<F>& call, const std::vector<Tensor<F>>& slices, std::int64_t axis) {
  std::vector<Tensor<F>> widened;
  std::vector<const Tensor<F>*> inputs;
  for (const Tensor<F>& slice : slices) {
    Shape shape = slice.shape();
    if (axis < 0 || axis > slice.rank()) refuse("axis {} for slices of shape {}", axis, to_string(shape));
    shape.insert(shape.begin() + axis, 1);
    widened.push_back(slice.reshaped(shape));
  }
  for (const Tensor<F>& slice : widened) inputs.push_back(&slice);
  Node node{.name = call.node.name};
  node.attributes["axis"] = axis;
  return op_Concat(Call<F>{node, inputs, call.threads, call.scope})[0];
}

// What a body that never ran would have given: no slices.
template <class F>
Tensor<F> no_slices(const Graph& body, std::size_t output) {
  const TensorType& type = body.outputs[output].type;
  Shape shape = {0};
  for (const Dim& dim : type.dims) shape.push_back(dim.known() ? dim.value : 0);
  return Tensor<F>(type.dtype, shape);
}

}  // namespace

KF_ORACLE_OPERATOR(If) {
  const bool condition = call.scalar_int(0) != 0;
  return call.scope->run_body(body_of(call, condition ? "then_branch" : "else_branch"), {});
}

// Inputs: trip count, condition, state. The body takes (iteration, condition, state) and gives (condition,
// state, slices); the results are the last state and the stacked slices.
KF_ORACLE_OPERATOR(Loop) {
  const Graph& body = body_of(call, "body");
  if (body.inputs.size() < 2 || body.outputs.size() + 1 < body.inputs.size() ||
      call.inputs.size() != body.inputs.size())
    refuse("{} inputs for a body of {} inputs and {} outputs", call.inputs.size(), body.inputs.size(),
           body.outputs.size());
  const std::size_t states = body.inputs.size() - 2, scans = body.outputs.size() - 1 - states;
  const std::int64_t limit = call.has(0) ? call.scalar_int(0) : std::numeric_limits<std::int64_t>::max();
  bool go_on = call.has(1) ? call.scalar_int(1) != 0 : true;
  std::vector<Tensor<F>> state;
  for (std::size_t i = 0; i < states; ++i) state.push_back(call.in(i + 2));
  std::vector<std::vector<Tensor<F>>> slices(scans);
  constexpr std::int64_t kMostIterations = 10'000'000;
  for (std::int64_t i = 0; i < limit && go_on; ++i) {
    if (i >= kMostIterations) refuse("the loop does not end within {} iterations", kMostIterations);
    std::vector<Tensor<F>> inputs = {Tensor<F>(DType::kInt64, {}, std::vector<std::int64_t>{i}),
                                     Tensor<F>(DType::kBool, {}, std::vector<std::int64_t>{1})};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<Tensor<F>> results = call.scope->run_body(body, std::move(inputs));
    if (results[0].size() != 1)
      refuse("the condition of the loop has shape {}", to_string(results[0].shape()));
    go_on = results[0].ints()[0] != 0;
    for (std::size_t s = 0; s < states; ++s) state[s] = std::move(results[1 + s]);
    for (std::size_t s = 0; s < scans; ++s) slices[s].push_back(std::move(results[1 + states + s]));
  }
  for (std::size_t s = 0; s < scans; ++s)
    state.push_back(slices[s].empty() ? no_slices<F>(body, 1 + states + s) : stacked(call, slices[s], 0));
  return state;
}

// Inputs: state, then sequences that are walked along an axis; outputs: the last state and stacked slices.
KF_ORACLE_OPERATOR(Scan) {
  const Graph& body = body_of(call, "body");
  const auto sequences =
      static_cast<std::size_t>(std::max<std::int64_t>(0, call.int_attr("num_scan_inputs", 0)));
  if (sequences < 1 || sequences > call.inputs.size() || body.inputs.size() != call.inputs.size())
    refuse("{} inputs, {} of them sequences, for a body of {} inputs", call.inputs.size(), sequences,
           body.inputs.size());
  const std::size_t states = call.inputs.size() - sequences;
  if (body.outputs.size() < states)
    refuse("the body has {} outputs for {} states", body.outputs.size(), states);
  const std::size_t scans = body.outputs.size() - states;
  auto list = [&](const char* name, std::size_t count) {
    auto values = call.node.ints_attr(name);
    if (values.empty()) values.assign(count, 0);
    if (values.size() != count) refuse("{} has {} entries instead of {}", name, values.size(), count);
    return values;
  };
  const auto in_axes = list("scan_input_axes", sequences),
             in_directions = list("scan_input_directions", sequences);
  const auto out_axes = list("scan_output_axes", scans),
             out_directions = list("scan_output_directions", scans);

  std::vector<Tensor<F>> state;
  for (std::size_t i = 0; i < states; ++i) state.push_back(call.in(i));
  std::int64_t length = -1;
  for (std::size_t i = 0; i < sequences; ++i) {
    const Tensor<F>& x = call.in(states + i);
    const std::int64_t here = x.dim(normal_axis(in_axes[i], x.rank()));
    if (length >= 0 && here != length) refuse("sequences of lengths {} and {}", length, here);
    length = here;
  }
  std::vector<std::vector<Tensor<F>>> slices(scans);
  for (std::int64_t t = 0; t < length; ++t) {
    std::vector<Tensor<F>> inputs = state;
    for (std::size_t i = 0; i < sequences; ++i) {
      const Tensor<F>& x = call.in(states + i);
      inputs.push_back(slice_at(x, normal_axis(in_axes[i], x.rank()), in_directions[i] ? length - 1 - t : t,
                                call.threads));
    }
    std::vector<Tensor<F>> results = call.scope->run_body(body, std::move(inputs));
    for (std::size_t s = 0; s < states; ++s) state[s] = std::move(results[s]);
    for (std::size_t s = 0; s < scans; ++s) slices[s].push_back(std::move(results[states + s]));
  }
  for (std::size_t s = 0; s < scans; ++s) {
    if (out_directions[s]) std::reverse(slices[s].begin(), slices[s].end());
    if (slices[s].empty())
      state.push_back(no_slices<F>(body, states + s));
    else
      state.push_back(stacked(call, slices[s], normal_axis(out_axes[s], slices[s][0].rank() + 1)));
  }
  return state;
}

KF_ORACLE_INSTANTIATE(If)
KF_ORACLE_INSTANTIATE(Loop)
KF_ORACLE_INSTANTIATE(Scan)

}  // namespace kforge

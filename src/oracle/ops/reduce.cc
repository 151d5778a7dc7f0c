// Reductions over any set of axes. Every result has one state, which takes its elements in index order; sums
// are taken in chains (oracle/chain_sum.h).
#include <cmath>
#include <limits>

#include "oracle/chain_sum.h"
#include "oracle/elementwise.h"
#include "oracle/ops/operators.h"

namespace kforge {
namespace {

// Which axes are summed over, and the shapes that follow.
struct Reduction {
  std::vector<bool> reduced;
  bool nothing = false;  // no axes, and the node says that this means none rather than all
  Shape result;          // as ONNX wants it (with or without the axes of 1)
  Shape kept_dims, kept_strides, reduced_dims, reduced_strides;
  std::int64_t reduced_count = 1;

  Reduction(const Shape& shape, const std::vector<std::int64_t>& axes, bool keep, bool none_if_empty)
      : reduced(shape.size(), axes.empty() && !none_if_empty), nothing(axes.empty() && none_if_empty) {
    for (std::int64_t axis : axes)
      reduced[static_cast<std::size_t>(normal_axis(axis, static_cast<std::int64_t>(shape.size())))] = true;
    const Shape strides = contiguous_strides(shape);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!reduced[d] || keep) result.push_back(reduced[d] ? 1 : shape[d]);
      (reduced[d] ? reduced_dims : kept_dims).push_back(shape[d]);
      (reduced[d] ? reduced_strides : kept_strides).push_back(strides[d]);
      if (reduced[d]) reduced_count *= shape[d];
    }
  }
};

template <class F>
Reduction reduction_of(const Call<F>& call) {
  const auto axes = call.has(1) ? call.ints(1) : call.node.ints_attr("axes");
  return Reduction(call.in(0).shape(), axes, call.int_attr("keepdims", 1) != 0,
                   call.int_attr("noop_with_empty_axes", 0) != 0);
}

// to[o] = finish(state), state = init(o) stepped through the elements that belong to result o.
// Neighbouring results are stepped together where the last axis is kept, so that memory is read in order.
// With `add`, which adds one state to another, the elements are taken in chains, each with a state of its
// own.
struct OneChain {};
template <class F, class T, class Init, class Step, class Finish, class Add = OneChain>
void reduce(const Call<F>& call, const Reduction& shape, const std::vector<T>& from, std::vector<T>& to,
            const Init& init, const Step& step, const Finish& finish, const Add& add = {}) {
  const Walk<1> kept(shape.kept_dims, {shape.kept_strides}),
      reduced(shape.reduced_dims, {shape.reduced_strides});
  using State = decltype(init(0));
  constexpr bool kChains = !std::is_same_v<Add, OneChain>;
  const std::int64_t chain =
      kChains ? chain_length(reduced.count()) : std::max<std::int64_t>(reduced.count(), 1);
  call.parallel(static_cast<std::int64_t>(to.size()), 2 * shape.reduced_count,
                [&](std::int64_t begin, std::int64_t end) {
                  std::vector<State> states, sums;
                  kept.run(begin, end,
                           [&](std::int64_t position, const auto& kept_offset, std::int64_t count) {
                             constexpr std::int64_t kTogether = 256;
                             const std::int64_t across = kept.inner(0);
                             for (std::int64_t first = 0; first < count; first += kTogether) {
                               const std::int64_t group = std::min(kTogether, count - first);
                               const T* base = from.data() + kept_offset[0] + first * across;
                               auto begin_chain = [&] {
                                 states.clear();
                                 for (std::int64_t j = 0; j < group; ++j)
                                   states.push_back(init(position + first + j));
                               };
                               auto take = [&](std::int64_t, const auto& offset, std::int64_t length) {
                                 const T* row = base + offset[0];
                                 const std::int64_t along = reduced.inner(0);
                                 if (across == 1) {
                                   for (std::int64_t k = 0; k < length; ++k)
                                     for (std::int64_t j = 0; j < group; ++j)
                                       step(states[static_cast<std::size_t>(j)], row[k * along + j]);
                                 } else {
                                   for (std::int64_t j = 0; j < group; ++j) {
                                     State state = states[static_cast<std::size_t>(j)];
                                     for (std::int64_t k = 0; k < length; ++k)
                                       step(state, row[j * across + k * along]);
                                     states[static_cast<std::size_t>(j)] = state;
                                   }
                                 }
                               };
                               begin_chain();
                               reduced.run(0, std::min(chain, reduced.count()), take);
                               if constexpr (kChains)
                                 for (std::int64_t at = chain; at < reduced.count(); at += chain) {
                                   sums = states;
                                   begin_chain();
                                   reduced.run(at, std::min(at + chain, reduced.count()), take);
                                   for (std::size_t j = 0; j < states.size(); ++j) add(states[j], sums[j]);
                                 }
                               for (std::int64_t j = 0; j < group; ++j)
                                 to[static_cast<std::size_t>(position + first + j)] =
                                     finish(states[static_cast<std::size_t>(j)]);
                             }
                           });
                });
}

// A reduction whose state is one number. Integers are summed as unsigned ones, which wrap around. With `add`
// see above.
template <class F, class Step, class Finish, class Add = OneChain>
Outputs<F> simple(const Call<F>& call, F first, const Step& step, const Finish& finish, const Add& add = {}) {
  const Tensor<F>& x = call.in(0);
  const Reduction shape = reduction_of(call);
  if (shape.nothing) return {x};
  Tensor<F> y(x.dtype(), shape.result);
  const F count = static_cast<F>(shape.reduced_count);
  if (x.has_floats()) {
    reduce(
        call, shape, x.floats(), y.new_floats(), [=](std::int64_t) { return first; }, step,
        [&](F state) { return finish(state, count); }, add);
    return {y};
  }
  const DType dtype = x.dtype();
  reduce(
      call, shape, x.ints(), y.new_ints(),
      [=](std::int64_t) { return static_cast<std::uint64_t>(int_from_float(static_cast<double>(first))); },
      [&](std::uint64_t& state, std::int64_t value) { step(state, static_cast<std::uint64_t>(value)); },
      [&](std::uint64_t state) {
        const auto value = static_cast<std::int64_t>(state);
        const double finished = finish(static_cast<double>(value), static_cast<double>(shape.reduced_count));
        return wrap_to(dtype, finished == static_cast<double>(value) ? value : int_from_float(finished));
      });
  return {y};
}

constexpr auto kAsIs = [](auto state, auto) { return state; };
constexpr auto kAdd = [](auto& state, auto value) { state += value; };
constexpr auto kAddSquare = [](auto& state, auto value) { state += value * value; };
constexpr auto kAddMagnitude = []<class T>(T& state, T value) {
  if constexpr (std::is_floating_point_v<T>)
    state += std::fabs(value);
  else
    state += static_cast<std::int64_t>(value) < 0 ? -value : value;
};

template <class F, bool kLargest>
Outputs<F> extreme(const Call<F>& call) {
  const Tensor<F>& x = call.in(0);
  const Reduction shape = reduction_of(call);
  if (shape.nothing) return {x};
  Tensor<F> y(x.dtype(), shape.result);
  auto better = [](auto value, auto state) { return kLargest ? state < value : value < state; };
  if (x.has_floats()) {
    const F worst = kLargest ? -std::numeric_limits<F>::infinity() : std::numeric_limits<F>::infinity();
    reduce(
        call, shape, x.floats(), y.new_floats(), [=](std::int64_t) { return worst; },
        [&](F& state, F value) {
          if (better(value, state) || std::isnan(value)) state = value;
        },  // NaN stays
        [](F state) { return state; });
    return {y};
  }
  if (shape.reduced_count == 0 && y.size() > 0) refuse("there is no largest or smallest of no integers");
  auto of_type = [&]<class T>(T worst) {
    reduce(
        call, shape, x.ints(), y.new_ints(), [=](std::int64_t) { return worst; },
        [&](T& state, std::int64_t value) {
          if (better(static_cast<T>(value), state)) state = static_cast<T>(value);
        },
        [](T state) { return static_cast<std::int64_t>(state); });
  };
  using Unsigned = std::numeric_limits<std::uint64_t>;
  using Signed = std::numeric_limits<std::int64_t>;
  if (x.dtype() == DType::kUInt64)
    of_type(kLargest ? Unsigned::min() : Unsigned::max());
  else
    of_type(kLargest ? Signed::min() : Signed::max());
  return {y};
}

}  // namespace

KF_ORACLE_OPERATOR(ReduceSum) { return simple(call, F(0), kAdd, kAsIs, kAdd); }
KF_ORACLE_OPERATOR(ReduceMean) {
  return simple(
      call, F(0), kAdd, [](auto sum, auto count) { return sum / count; }, kAdd);
}
KF_ORACLE_OPERATOR(ReduceProd) {
  return simple(
      call, F(1), [](auto& state, auto value) { state *= value; }, kAsIs);
}
KF_ORACLE_OPERATOR(ReduceL1) { return simple(call, F(0), kAddMagnitude, kAsIs, kAdd); }
KF_ORACLE_OPERATOR(ReduceL2) {
  return simple(
      call, F(0), kAddSquare, [](auto sum, auto) { return std::sqrt(sum); }, kAdd);
}
KF_ORACLE_OPERATOR(ReduceSumSquare) { return simple(call, F(0), kAddSquare, kAsIs, kAdd); }
KF_ORACLE_OPERATOR(ReduceLogSum) {
  return simple(
      call, F(0), kAdd, [](auto sum, auto) { return std::log(sum); }, kAdd);
}
KF_ORACLE_OPERATOR(ReduceMax) { return extreme<F, true>(call); }
KF_ORACLE_OPERATOR(ReduceMin) { return extreme<F, false>(call); }

// log(sum(exp(x))), the largest element taken out first so that nothing overflows.
KF_ORACLE_OPERATOR(ReduceLogSumExp) {
  const Tensor<F>& x = call.in(0);
  const Reduction shape = reduction_of(call);
  if (shape.nothing) return {x};
  const Tensor<F> largest = op_ReduceMax(call)[0];
  Tensor<F> y(x.dtype(), shape.result);
  struct State {
    F largest, sum;
  };
  reduce(
      call, shape, x.floats(), y.new_floats(),
      [&](std::int64_t o) {
        const F m = largest.floats()[static_cast<std::size_t>(o)];
        return State{std::isfinite(m) ? m : F(0), 0};
      },
      [](State& state, F value) { state.sum += std::exp(value - state.largest); },
      [](const State& state) { return state.largest + std::log(state.sum); },
      [](State& state, const State& other) { state.sum += other.sum; });
  return {y};
}

KF_ORACLE_INSTANTIATE(ReduceSum)
KF_ORACLE_INSTANTIATE(ReduceMean)
KF_ORACLE_INSTANTIATE(ReduceProd)
KF_ORACLE_INSTANTIATE(ReduceL1)
KF_ORACLE_INSTANTIATE(ReduceL2)
KF_ORACLE_INSTANTIATE(ReduceSumSquare)
KF_ORACLE_INSTANTIATE(ReduceLogSum)
KF_ORACLE_INSTANTIATE(ReduceMax)
KF_ORACLE_INSTANTIATE(ReduceMin)
KF_ORACLE_INSTANTIATE(ReduceLogSumExp)

}  // namespace kforge

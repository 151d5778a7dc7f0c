// Operators that pick positions by value: ArgMax, ArgMin, TopK. NaN counts as larger than every number.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "oracle/call.h"

namespace kforge {
namespace {

// a comes before b in ascending order.
template <class T>
bool less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && !std::isnan(a);
  return a < b;
}

// Calls fn with the elements, uint64 ones as such.
template <class F, class Fn>
void with_typed(const Tensor<F>& x, const Fn& fn) {
  if (x.has_floats())
    fn(x.floats().data());
  else if (x.dtype() == DType::kUInt64)
    fn(reinterpret_cast<const std::uint64_t*>(x.ints().data()));
  else
    fn(x.ints().data());
}

template <class F, bool kLargest>
Outputs<F> arg_extreme(const Call<F>& call) {
  const Tensor<F>& x = call.in(0);
  const std::int64_t axis = normal_axis(call.int_attr("axis", 0), x.rank());
  const bool keep = call.int_attr("keepdims", 1) != 0, last = call.int_attr("select_last_index", 0) != 0;
  Shape shape = x.shape();
  if (keep)
    shape[static_cast<std::size_t>(axis)] = 1;
  else
    shape.erase(shape.begin() + axis);
  Tensor<F> y(DType::kInt64, shape);
  const AxisView view(x.shape(), axis);
  if (view.length == 0 && y.size() > 0)
    refuse("axis {} of shape {} has no elements", axis, to_string(x.shape()));
  std::int64_t* to = y.new_ints().data();
  with_typed(x, [&](const auto* from) {
    auto better = [&](auto candidate, auto best) {
      const bool is_better = kLargest ? less(best, candidate) : less(candidate, best);
      return is_better || (last && !(kLargest ? less(candidate, best) : less(best, candidate)));
    };
    call.parallel(view.outer * view.inner, 2 * view.length, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const auto* column = from + i / view.inner * view.length * view.inner + i % view.inner;
        std::int64_t best = 0;
        for (std::int64_t k = 1; k < view.length; ++k)
          if (better(column[k * view.inner], column[best * view.inner])) best = k;
        to[i] = best;
      }
    });
  });
  return {y};
}

}  // namespace

// The smallest of something that contains NaN is NaN too, as NumPy has it: only then a kernel that loses one
// is seen.
KF_ORACLE_OPERATOR(ArgMax) { return arg_extreme<F, true>(call); }
KF_ORACLE_OPERATOR(ArgMin) { return arg_extreme<F, false>(call); }

// Equal elements come in the order of their indices.
KF_ORACLE_OPERATOR(TopK) {
  const Tensor<F>& x = call.in(0);
  const std::int64_t axis = normal_axis(call.int_attr("axis", -1), x.rank());
  const std::int64_t k = call.scalar_int(1);
  const bool largest = call.int_attr("largest", 1) != 0;
  const AxisView view(x.shape(), axis);
  if (k < 0 || k > view.length) refuse("the first {} of {} elements are wanted", k, view.length);
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = k;
  Tensor<F> values(x.dtype(), shape), indices(DType::kInt64, shape);
  with_typed(x, [&](const auto* from) {
    call.parallel(view.outer * view.inner, 16 * view.length, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::int64_t> order(static_cast<std::size_t>(view.length));
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t start = i / view.inner * view.length * view.inner + i % view.inner;
        const auto* column = from + start;
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](std::int64_t a, std::int64_t b) {
          const auto x_a = column[a * view.inner], x_b = column[b * view.inner];
          if (less(x_a, x_b)) return !largest;
          if (less(x_b, x_a)) return largest;
          return a < b;
        });
        for (std::int64_t r = 0; r < k; ++r) {
          const auto at = static_cast<std::size_t>((i / view.inner * k + r) * view.inner + i % view.inner);
          const std::int64_t chosen = order[static_cast<std::size_t>(r)];
          const auto source = static_cast<std::size_t>(start + chosen * view.inner);
          indices.new_ints()[at] = chosen;
          if (x.has_floats())
            values.new_floats()[at] = x.floats()[source];
          else
            values.new_ints()[at] = x.ints()[source];
        }
      }
    });
  });
  return {values, indices};
}

KF_ORACLE_INSTANTIATE(ArgMax)
KF_ORACLE_INSTANTIATE(ArgMin)
KF_ORACLE_INSTANTIATE(TopK)

}  // namespace kforge

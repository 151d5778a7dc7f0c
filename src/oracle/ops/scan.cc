// Running sums and products along an axis.
#include "oracle/call.h"

namespace kforge {
namespace {

// to[k] = from[0] o ... o from[k], or without from[k] (exclusive), from the other end (reverse).
template <class F, class Combine>
Outputs<F> running(const Call<F>& call, int first, const Combine& combine) {
  const Tensor<F>& x = call.in(0);
  const AxisView view(x.shape(), normal_axis(call.scalar_int(1), x.rank()));
  const bool exclusive = call.int_attr("exclusive", 0) != 0, reverse = call.int_attr("reverse", 0) != 0;
  Tensor<F> y(x.dtype(), x.shape());
  auto scan = [&](const auto* from, auto* to, auto start, const auto& finish) {
    call.parallel(view.outer * view.inner, 2 * view.length, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t base = i / view.inner * view.length * view.inner + i % view.inner;
        auto state = start;
        for (std::int64_t k = 0; k < view.length; ++k) {
          const std::int64_t at = base + (reverse ? view.length - 1 - k : k) * view.inner;
          const auto next = combine(state, static_cast<decltype(start)>(from[at]));
          to[at] = finish(exclusive ? state : next);
          state = next;
        }
      }
    });
  };
  if (x.has_floats())
    scan(x.floats().data(), y.new_floats().data(), static_cast<F>(first), [](F v) { return v; });
  else
    scan(x.ints().data(), y.new_ints().data(), static_cast<std::uint64_t>(first),
         [&](std::uint64_t v) { return wrap_to(x.dtype(), static_cast<std::int64_t>(v)); });
  return {y};
}

}  // namespace

KF_ORACLE_OPERATOR(CumSum) {
  return running(call, 0, [](auto a, auto b) { return a + b; });
}
KF_ORACLE_OPERATOR(CumProd) {
  return running(call, 1, [](auto a, auto b) { return a * b; });
}

KF_ORACLE_INSTANTIATE(CumSum)
KF_ORACLE_INSTANTIATE(CumProd)

}  // namespace kforge

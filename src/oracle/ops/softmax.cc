// Softmax, LogSoftmax and Hardmax along one axis.
#include <cmath>
#include <limits>

#include "oracle/call.h"
#include "oracle/chain_sum.h"

namespace kforge {
namespace {

// The element at `k` of a column is column[k * stride].
template <class F>
struct Column {
  const F* from;
  F* to;
  std::int64_t length, stride;
};

// NaN counts as the largest, so that it spreads over its column.
template <class F>
F largest_of(const Column<F>& column) {
  F largest = -std::numeric_limits<F>::infinity();
  for (std::int64_t k = 0; k < column.length; ++k) {
    const F value = column.from[k * column.stride];
    if (value > largest || std::isnan(value)) largest = value;
  }
  return largest;
}

template <class F>
void softmax(const Column<F>& column) {
  const F largest = largest_of(column);
  ChainSum<F> sum(column.length);
  for (std::int64_t k = 0; k < column.length; ++k) {
    const F e = std::exp(column.from[k * column.stride] - largest);
    column.to[k * column.stride] = e;
    sum.add(e);
  }
  const F total = sum.total();
  for (std::int64_t k = 0; k < column.length; ++k) column.to[k * column.stride] /= total;
}

template <class F>
void log_softmax(const Column<F>& column) {
  const F largest = largest_of(column);
  ChainSum<F> sum(column.length);
  for (std::int64_t k = 0; k < column.length; ++k)
    sum.add(std::exp(column.from[k * column.stride] - largest));
  const F log_sum = std::log(sum.total());
  for (std::int64_t k = 0; k < column.length; ++k)
    column.to[k * column.stride] = column.from[k * column.stride] - largest - log_sum;
}

template <class F>
void hardmax(const Column<F>& column) {  // the first of equal elements; `to` is zero before
  std::int64_t best = 0;
  for (std::int64_t k = 1; k < column.length; ++k)
    if (column.from[k * column.stride] > column.from[best * column.stride]) best = k;
  if (column.length > 0) column.to[best * column.stride] = 1;
}

template <class F, class Fn>
Outputs<F> for_each_column(const Call<F>& call, const Fn& fn) {
  const Tensor<F>& x = call.in(0);
  const AxisView view(x.shape(), normal_axis(call.int_attr("axis", -1), x.rank()));
  Tensor<F> y(x.dtype(), x.shape());
  const F* from = x.floats().data();
  F* to = y.new_floats().data();
  call.parallel(view.outer * view.inner, 32 * view.length, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t start = i / view.inner * view.length * view.inner + i % view.inner;
      fn(Column<F>{from + start, to + start, view.length, view.inner});
    }
  });
  return {y};
}

}  // namespace

KF_ORACLE_OPERATOR(Softmax) { return for_each_column(call, softmax<F>); }
KF_ORACLE_OPERATOR(LogSoftmax) { return for_each_column(call, log_softmax<F>); }
KF_ORACLE_OPERATOR(Hardmax) { return for_each_column(call, hardmax<F>); }

KF_ORACLE_INSTANTIATE(Softmax)
KF_ORACLE_INSTANTIATE(LogSoftmax)
KF_ORACLE_INSTANTIATE(Hardmax)

}  // namespace kforge

// Pooling over sliding windows and over whole pictures.
#include <cmath>
#include <limits>

#include "oracle/call.h"
#include "oracle/chain_sum.h"
#include "oracle/strides.h"
#include "oracle/window.h"

namespace kforge {
namespace {

// The part of a window that lies inside of the picture, per dimension: positions first, first + step, ... <
// end.
struct Clipped {
  std::int64_t first, end, step;
};

Clipped clip_window(const Window& window, std::size_t d, std::int64_t position) {
  const std::int64_t step = window.dilations[d];
  std::int64_t first = position * window.strides[d] - window.pads_begin[d];
  const std::int64_t end = std::min(first + window.kernel[d] * step, window.input[d]);
  if (first < 0) first += (-first + step - 1) / step * step;
  return {first, end, step};
}

// Calls visit(offset) for every element of the picture inside of the window, in index order.
template <class Visit>
void visit_window(const Window& window, std::int64_t position, const Visit& visit) {
  constexpr std::size_t kDeepest = 8;
  Clipped ranges[kDeepest];
  std::int64_t at[kDeepest];
  const std::size_t rank = window.rank();
  for (std::size_t d = rank; d-- > 0;) {
    ranges[d] = clip_window(window, d, position % window.output[d]);
    position /= window.output[d];
    if (ranges[d].first >= ranges[d].end) return;
    at[d] = ranges[d].first;
  }
  for (;;) {
    std::int64_t row = 0;
    for (std::size_t d = 0; d + 1 < rank; ++d) row = (row + at[d]) * window.input[d + 1];
    const Clipped& last = ranges[rank - 1];
    for (std::int64_t i = last.first; i < last.end; i += last.step) visit(row + i);
    std::size_t d = rank - 1;
    while (d > 0) {
      --d;
      at[d] += ranges[d].step;
      if (at[d] < ranges[d].end) break;
      at[d] = ranges[d].first;
      if (d == 0) return;
    }
    if (rank == 1) return;
  }
}

template <class F>
Window pool_window(const Call<F>& call) {
  const Shape& shape = call.in(0).shape();
  if (!call.node.has_attr("kernel_shape")) refuse("attribute kernel_shape is missing");
  Window window(call.node, shape, kernel_shape_attr(call.node, shape));
  if (window.rank() > 8) refuse("pooling in {} dimensions", window.rank());
  return window;
}

Shape pooled_shape(const Shape& shape, const Shape& spatial) {
  Shape result(shape.begin(), shape.begin() + 2);
  result.insert(result.end(), spatial.begin(), spatial.end());
  return result;
}

// Calls pool(plane, position, output index) for every output element.
template <class F, class Pool>
void for_each_output(const Call<F>& call, const Window& window, const Pool& pool) {
  const Shape& shape = call.in(0).shape();
  const std::int64_t planes = shape[0] * shape[1], outputs = window.output_count();
  call.parallel(planes * outputs, 4 * window.kernel_count() + 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) pool(i / outputs, i % outputs, i);
  });
}

// How many positions of a window the average divides by: those in the picture, or those in the padding too,
// but never those beyond it (ceil_mode).
std::int64_t divisor(const Window& window, std::int64_t position, bool count_padding) {
  std::int64_t count = 1;
  for (std::size_t d = window.rank(); d-- > 0;) {
    const std::int64_t at = position % window.output[d];
    position /= window.output[d];
    if (count_padding) {
      const std::int64_t first = at * window.strides[d] - window.pads_begin[d], step = window.dilations[d];
      const std::int64_t limit = window.input[d] + window.pads_end[d];
      count *= std::min(window.kernel[d], (limit - first + step - 1) / step);
    } else {
      const Clipped range = clip_window(window, d, at);
      count *= range.first < range.end ? (range.end - range.first - 1) / range.step + 1 : 0;
    }
  }
  return count;
}

// Reduces each plane N,C to one value.
template <class F, class Reduce>
Outputs<F> pool_planes(const Call<F>& call, const Reduce& reduce) {
  const Tensor<F>& x = call.in(0);
  if (x.rank() < 2) refuse("shape {} has no pictures", to_string(x.shape()));
  Tensor<F> y(x.dtype(), pooled_shape(x.shape(), Shape(x.shape().size() - 2, 1)));
  const std::int64_t planes = y.size(), pixels = planes == 0 ? 0 : x.size() / planes;
  const F* from = x.floats().data();
  F* to = y.new_floats().data();
  call.parallel(planes, 4 * pixels, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) to[p] = reduce(from + p * pixels, pixels);
  });
  return {y};
}

}  // namespace

// NaN wins over everything. The second output holds the flat index of each maximum in the whole input.
KF_ORACLE_OPERATOR(MaxPool) {
  const Tensor<F>& x = call.in(0);
  const Window window = pool_window(call);
  const Shape shape = pooled_shape(x.shape(), window.output);
  Tensor<F> y(x.dtype(), shape), indices(DType::kInt64, call.wants(1) ? shape : Shape{0});
  const std::int64_t pixels = checked_count(window.input);
  const bool column_major = call.int_attr("storage_order", 0) != 0;
  auto index_of = [&](std::int64_t plane, std::int64_t offset) {
    if (!column_major) return plane * pixels + offset;
    std::int64_t index = 0, stride = 1;
    Shape at(window.rank());
    for (std::size_t d = window.rank(); d-- > 0; offset /= window.input[d]) at[d] = offset % window.input[d];
    for (std::size_t d = 0; d < window.rank(); ++d) {
      index += at[d] * stride;
      stride *= window.input[d];
    }
    return plane * pixels + index;
  };
  auto pool = [&]<class T>(const std::vector<T>& from, std::vector<T>& to, T lowest) {
    for_each_output(call, window, [&](std::int64_t plane, std::int64_t position, std::int64_t output) {
      T best = lowest;
      std::int64_t where = -1;
      visit_window(window, position, [&](std::int64_t offset) {
        const T value = from[static_cast<std::size_t>(plane * pixels + offset)];
        if (where < 0 || value > best || (value != value && best == best)) {
          best = value;
          where = offset;
        }
      });
      to[static_cast<std::size_t>(output)] = best;
      if (call.wants(1))
        indices.new_ints()[static_cast<std::size_t>(output)] = where < 0 ? -1 : index_of(plane, where);
    });
  };
  if (x.has_floats())
    pool(x.floats(), y.new_floats(), -std::numeric_limits<F>::infinity());
  else
    pool(x.ints(), y.new_ints(), std::numeric_limits<std::int64_t>::min());
  return {y, indices};
}

KF_ORACLE_OPERATOR(AveragePool) {
  const Tensor<F>& x = call.in(0);
  const Window window = pool_window(call);
  Tensor<F> y(x.dtype(), pooled_shape(x.shape(), window.output));
  const bool count_padding = call.int_attr("count_include_pad", 0) != 0;
  const std::int64_t pixels = checked_count(window.input);
  const F* from = x.floats().data();
  F* to = y.new_floats().data();
  for_each_output(call, window, [&](std::int64_t plane, std::int64_t position, std::int64_t output) {
    F sum = 0;
    visit_window(window, position, [&](std::int64_t offset) { sum += from[plane * pixels + offset]; });
    to[output] = sum / static_cast<F>(divisor(window, position, count_padding));
  });
  return {y};
}

// The p-th root of the sum of p-th powers.
KF_ORACLE_OPERATOR(LpPool) {
  const Tensor<F>& x = call.in(0);
  const Window window = pool_window(call);
  Tensor<F> y(x.dtype(), pooled_shape(x.shape(), window.output));
  const F p = static_cast<F>(call.int_attr("p", 2));
  const std::int64_t pixels = checked_count(window.input);
  const F* from = x.floats().data();
  F* to = y.new_floats().data();
  for_each_output(call, window, [&](std::int64_t plane, std::int64_t position, std::int64_t output) {
    F sum = 0;
    visit_window(window, position,
                 [&](std::int64_t offset) { sum += std::pow(std::fabs(from[plane * pixels + offset]), p); });
    to[output] = std::pow(sum, 1 / p);
  });
  return {y};
}

KF_ORACLE_OPERATOR(GlobalAveragePool) {
  return pool_planes(call, [](const F* x, std::int64_t n) {
    ChainSum<F> sum(n);
    for (std::int64_t i = 0; i < n; ++i) sum.add(x[i]);
    return sum.total() / static_cast<F>(n);
  });
}
KF_ORACLE_OPERATOR(GlobalMaxPool) {
  return pool_planes(call, [](const F* x, std::int64_t n) {
    F best = -std::numeric_limits<F>::infinity();
    for (std::int64_t i = 0; i < n; ++i)
      if (x[i] > best || std::isnan(x[i])) best = x[i];
    return best;
  });
}
KF_ORACLE_OPERATOR(GlobalLpPool) {
  const F p = static_cast<F>(call.int_attr("p", 2));
  return pool_planes(call, [=](const F* x, std::int64_t n) {
    ChainSum<F> sum(n);
    for (std::int64_t i = 0; i < n; ++i) sum.add(std::pow(std::fabs(x[i]), p));
    return std::pow(sum.total(), 1 / p);
  });
}

// Puts the elements of a MaxPool back to where its indices say, zero elsewhere.
KF_ORACLE_OPERATOR(MaxUnpool) {
  const Tensor<F>&x = call.in(0), &indices = call.in(1);
  const Shape kernel = kernel_shape_attr(call.node, x.shape());
  const Shape strides = spatial_attr(call.node, "strides", kernel.size(), 1, 1);
  const Shape pads = spatial_attr(call.node, "pads", 2 * kernel.size(), 0, 0);
  Shape inferred(x.shape().begin(), x.shape().begin() + 2);
  for (std::size_t d = 0; d < kernel.size(); ++d)
    inferred.push_back((x.shape()[d + 2] - 1) * strides[d] + kernel[d] - pads[d] - pads[d + kernel.size()]);
  const Shape shape = call.has(2) ? call.ints(2) : inferred;
  if (shape.size() != x.shape().size())
    refuse("output shape {} for data of shape {}", to_string(shape), to_string(x.shape()));
  if (indices.shape() != x.shape())
    refuse("indices of shape {} for data of shape {}", to_string(indices.shape()), to_string(x.shape()));
  Tensor<F> y(x.dtype(), shape);
  // The indices count in the shape the pooling saw; a larger output keeps the same coordinates.
  const std::int64_t inferred_count = checked_count(inferred);
  const Shape strides_out = contiguous_strides(shape);
  for (std::size_t i = 0; i < x.floats().size(); ++i) {
    const std::int64_t index = indices.ints()[i];
    if (index < 0 || index >= inferred_count)
      refuse("index {} is outside of shape {}", index, to_string(inferred));
    std::int64_t rest = index, at = 0;
    for (std::size_t d = inferred.size(); d-- > 0; rest /= inferred[d]) {
      const std::int64_t coordinate = rest % inferred[d];
      if (coordinate >= shape[d]) refuse("index {} is outside of shape {}", index, to_string(shape));
      at += coordinate * strides_out[d];
    }
    y.new_floats()[static_cast<std::size_t>(at)] = x.floats()[i];
  }
  return {y};
}

KF_ORACLE_INSTANTIATE(MaxPool)
KF_ORACLE_INSTANTIATE(AveragePool)
KF_ORACLE_INSTANTIATE(LpPool)
KF_ORACLE_INSTANTIATE(GlobalAveragePool)
KF_ORACLE_INSTANTIATE(GlobalMaxPool)
KF_ORACLE_INSTANTIATE(GlobalLpPool)
KF_ORACLE_INSTANTIATE(MaxUnpool)

}  // namespace kforge

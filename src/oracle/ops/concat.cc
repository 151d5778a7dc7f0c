// Joining, padding and masking: results whose elements come from several places.
#include <numeric>

#include "oracle/call.h"
#include "oracle/strides.h"

namespace kforge {
namespace {

// Where position `i` of a padded axis reads from: an index into the axis, or -1 for the constant.
std::int64_t padded_source(std::int64_t i, std::int64_t size, const std::string& mode) {
  if (i >= 0 && i < size) return i;
  if (mode == "constant") return -1;
  if (size == 0) refuse("an axis without elements is padded from its own elements");
  if (mode == "edge") return i < 0 ? 0 : size - 1;
  if (mode == "wrap") return (i % size + size) % size;
  const std::int64_t period = std::max<std::int64_t>(1, 2 * (size - 1));  // reflect: 0 1 2 1 0 1 2 ...
  const std::int64_t phase = (i % period + period) % period;
  return phase < size ? phase : period - phase;
}

}  // namespace

KF_ORACLE_OPERATOR(Concat) {
  const Tensor<F>& first = call.in(0);
  const std::int64_t axis = normal_axis(call.int_attr("axis", 0), first.rank());
  Shape shape = first.shape();
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    Shape other = call.in(i).shape();
    if (call.in(i).dtype() != first.dtype())
      refuse("inputs of {} and {} are joined", name_of(first.dtype()), name_of(call.in(i).dtype()));
    if (other.size() != shape.size())
      refuse("shapes {} and {} are joined", to_string(shape), to_string(other));
    shape[static_cast<std::size_t>(axis)] += other[static_cast<std::size_t>(axis)];
    other[static_cast<std::size_t>(axis)] = shape[static_cast<std::size_t>(axis)];
    if (other != shape) refuse("input {} does not fit the others along axis {}", i, axis);
  }
  Tensor<F> y(first.dtype(), shape);
  const AxisView view(shape, axis);
  std::int64_t done = 0;  // along the axis
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::int64_t piece = call.in(i).dim(axis) * view.inner;
    y.visit_new([&]<class Values>(Values& to) {
      call.in(i).visit([&]<class Other>(const Other& from) {
        if constexpr (std::is_same_v<Values, Other>)
          call.parallel(view.outer, piece, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t o = begin; o < end; ++o)
              std::copy_n(from.begin() + o * piece, piece,
                          to.begin() + o * view.length * view.inner + done * view.inner);
          });
      });
    });
    done += call.in(i).dim(axis);
  }
  return {y};
}

// Inputs: data, pads (begins, then ends; negative ones crop), constant, axes.
KF_ORACLE_OPERATOR(Pad) {
  const Tensor<F>& x = call.in(0);
  const std::string mode = call.node.string_attr("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    refuse("mode \"{}\" is unknown", mode);
  const std::vector<std::int64_t> pads = call.has(1) ? call.ints(1) : call.node.ints_attr("pads");
  std::vector<std::int64_t> axes(x.shape().size());
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3)) axes = call.ints(3);
  if (pads.size() != 2 * axes.size()) refuse("{} pads for {} axes", pads.size(), axes.size());

  Shape shape = x.shape(), begins(shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto d = static_cast<std::size_t>(normal_axis(axes[i], x.rank()));
    begins[d] = pads[i];
    std::int64_t both;
    if (__builtin_add_overflow(pads[i], pads[i + axes.size()], &both) ||
        __builtin_add_overflow(shape[d], both, &shape[d]))
      refuse("pads {} are too large", to_string(pads));
  }
  if (checked_count(shape) == 0) return {Tensor<F>(x.dtype(), shape)};
  std::vector<std::vector<std::int64_t>> source(shape.size());  // for every axis and position
  const Shape strides = contiguous_strides(x.shape());
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (std::int64_t i = 0; i < shape[d]; ++i) {
      const std::int64_t from = padded_source(i - begins[d], x.shape()[d], mode);
      source[d].push_back(from < 0 ? -1 : from * strides[d]);
    }

  Tensor<F> y(x.dtype(), shape);
  auto fill = [&](const auto& from, auto& to, const auto& constant) {
    const std::int64_t row = shape.empty() ? 1 : shape.back();
    call.parallel(row == 0 ? 0 : y.size() / row, 4 * row, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        std::int64_t base = 0, rest = r;
        bool outside = false;
        for (std::size_t d = shape.size(); d-- > 1;) {
          const std::int64_t offset = source[d - 1][static_cast<std::size_t>(rest % shape[d - 1])];
          rest /= shape[d - 1];
          outside |= offset < 0;
          base += offset;
        }
        for (std::int64_t j = 0; j < row; ++j) {
          const std::int64_t offset = shape.empty() ? 0 : source.back()[static_cast<std::size_t>(j)];
          to[static_cast<std::size_t>(r * row + j)] =
              outside || offset < 0 ? constant : from[static_cast<std::size_t>(base + offset)];
        }
      }
    });
  };
  if (x.has_floats())
    fill(x.floats(), y.new_floats(), call.has(2) ? call.scalar_float(2) : call.float_attr("value", 0));
  else if (x.has_ints())
    fill(x.ints(), y.new_ints(), call.has(2) ? call.scalar_int(2) : std::int64_t{0});
  else
    fill(x.strings(), y.new_strings(), std::string());
  return {y};
}

// Keeps the upper or lower triangle of the last two axes.
KF_ORACLE_OPERATOR(Trilu) {
  const Tensor<F>& x = call.in(0);
  if (x.rank() < 2) refuse("shape {} has no triangles", to_string(x.shape()));
  const bool upper = call.int_attr("upper", 1) != 0;
  const std::int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  // Beyond these limits nothing changes, and the comparison below could overflow.
  const std::int64_t k = call.has(1) ? std::clamp(call.scalar_int(1), -rows - 1, columns + 1) : 0;
  Tensor<F> y(x.dtype(), x.shape());
  y.visit_new([&]<class Values>(Values& to) {
    x.visit([&]<class Other>(const Other& from) {
      if constexpr (std::is_same_v<Values, Other>)
        for (std::int64_t i = 0; i < x.size(); ++i) {
          const std::int64_t column = i % columns, row = i / columns % rows;
          if (upper ? column - row >= k : column - row <= k)
            to[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(i)];
        }
    });
  });
  return {y};
}

KF_ORACLE_INSTANTIATE(Concat)
KF_ORACLE_INSTANTIATE(Pad)
KF_ORACLE_INSTANTIATE(Trilu)

}  // namespace kforge

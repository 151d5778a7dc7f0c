// Operators whose result has a size that depends on values: Unique and NonMaxSuppression.
#include <algorithm>
#include <cmath>
#include <map>

#include "oracle/call.h"
#include "oracle/strides.h"

namespace kforge {
namespace {

// Slices in the order of their elements; NaN comes last, and equals itself.
struct SliceOrder {
  template <class T>
  bool operator()(const std::vector<T>& a, const std::vector<T>& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) {
      if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(x) || std::isnan(y)) return std::isnan(y) && !std::isnan(x);
      return x < y;
    });
  }
};

// A box by its corners, whichever way round they were given.
template <class F>
struct Box {
  F y1, x1, y2, x2;

  Box(const F* v, bool centre) {
    if (centre) {  // x, y, width, height
      x1 = v[0] - v[2] / 2, x2 = v[0] + v[2] / 2, y1 = v[1] - v[3] / 2, y2 = v[1] + v[3] / 2;
    } else {
      y1 = std::min(v[0], v[2]), y2 = std::max(v[0], v[2]), x1 = std::min(v[1], v[3]),
      x2 = std::max(v[1], v[3]);
    }
  }
  F area() const { return (y2 - y1) * (x2 - x1); }
};

template <class F>
F overlap(const Box<F>& a, const Box<F>& b) {
  const F height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1),
          width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (height <= 0 || width <= 0) return 0;
  const F common = height * width;
  return common / (a.area() + b.area() - common);
}

}  // namespace

// Outputs: the different elements (or slices along an axis), where each is first, which one every input is,
// counts.
KF_ORACLE_OPERATOR(Unique) {
  const bool flat = !call.node.has_attr("axis"), sorted = call.int_attr("sorted", 1) != 0;
  const Tensor<F> x = flat ? call.in(0).reshaped({call.in(0).size()}) : call.in(0);
  const std::int64_t axis = flat ? 0 : normal_axis(call.int_attr("axis", 0), x.rank());
  const AxisView view(x.shape(), axis);
  std::vector<std::int64_t> first, inverse(static_cast<std::size_t>(view.length)), counts;
  x.visit([&]<class T>(const std::vector<T>& values) {
    std::map<std::vector<T>, std::int64_t, SliceOrder> seen;  // to the number in order of appearance
    for (std::int64_t i = 0; i < view.length; ++i) {
      std::vector<T> slice;
      for (std::int64_t o = 0; o < view.outer; ++o)
        for (std::int64_t j = 0; j < view.inner; ++j)
          slice.push_back(values[static_cast<std::size_t>((o * view.length + i) * view.inner + j)]);
      const auto [entry, is_new] =
          seen.try_emplace(std::move(slice), static_cast<std::int64_t>(first.size()));
      if (is_new) {
        first.push_back(i);
        counts.push_back(0);
      }
      inverse[static_cast<std::size_t>(i)] = entry->second;
      ++counts[static_cast<std::size_t>(entry->second)];
    }
    if (!sorted) return;
    std::vector<std::int64_t> rank_of(first.size()), old_first = first, old_counts = counts;
    std::int64_t rank = 0;
    for (const auto& [slice, number] : seen) {
      rank_of[static_cast<std::size_t>(number)] = rank;
      first[static_cast<std::size_t>(rank)] = old_first[static_cast<std::size_t>(number)];
      counts[static_cast<std::size_t>(rank)] = old_counts[static_cast<std::size_t>(number)];
      ++rank;
    }
    for (std::int64_t& i : inverse) i = rank_of[static_cast<std::size_t>(i)];
  });
  const auto count = static_cast<std::int64_t>(first.size());
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = count;
  Tensor<F> y(x.dtype(), shape);
  y.visit_new([&]<class Values>(Values& to) {
    x.visit([&]<class Other>(const Other& from) {
      if constexpr (std::is_same_v<Values, Other>)
        for (std::int64_t i = 0; i < y.size(); ++i) {
          const std::int64_t at = i / view.inner % count;
          const std::int64_t source =
              (i / view.inner / count * view.length + first[static_cast<std::size_t>(at)]) * view.inner +
              i % view.inner;
          to[static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(source)];
        }
    });
  });
  auto as_tensor = [](std::vector<std::int64_t> values) {
    const auto size = static_cast<std::int64_t>(values.size());
    return Tensor<F>(DType::kInt64, {size}, std::move(values));
  };
  return {y, as_tensor(std::move(first)), as_tensor(std::move(inverse)), as_tensor(std::move(counts))};
}

// Inputs: boxes [batch][box][4], scores [batch][class][box], limit per class, overlap and score thresholds.
// Output: (batch, class, box) of the boxes that remain, best score first.
KF_ORACLE_OPERATOR(NonMaxSuppression) {
  const Tensor<F>&boxes = call.in(0), &scores = call.in(1);
  if (boxes.rank() != 3 || boxes.dim(2) != 4 || scores.rank() != 3 || scores.dim(0) != boxes.dim(0) ||
      scores.dim(2) != boxes.dim(1))
    refuse("boxes of shape {} and scores of shape {}", to_string(boxes.shape()), to_string(scores.shape()));
  const std::int64_t limit = call.has(2) ? call.scalar_int(2) : 0, count = boxes.dim(1);
  const F most_overlap = call.has(3) ? call.scalar_float(3) : F(0);
  const bool centre = call.int_attr("center_point_box", 0) != 0;
  std::vector<std::int64_t> kept;
  for (std::int64_t row = 0; row < scores.dim(0) * scores.dim(1); ++row) {
    const std::int64_t batch = row / scores.dim(1), label = row % scores.dim(1);
    const F* score = scores.floats().data() + row * count;
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < count; ++i)
      if (!call.has(4) || score[i] > call.scalar_float(4)) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return score[a] > score[b]; });
    std::vector<Box<F>> chosen;
    for (std::int64_t i : order) {
      if (static_cast<std::int64_t>(chosen.size()) >= limit) break;
      const Box<F> box(boxes.floats().data() + (batch * count + i) * 4, centre);
      if (std::any_of(chosen.begin(), chosen.end(),
                      [&](const Box<F>& other) { return overlap(box, other) > most_overlap; }))
        continue;
      chosen.push_back(box);
      kept.insert(kept.end(), {batch, label, i});
    }
  }
  const auto rows = static_cast<std::int64_t>(kept.size()) / 3;
  return {Tensor<F>(DType::kInt64, {rows, 3}, std::move(kept))};
}

KF_ORACLE_INSTANTIATE(Unique)
KF_ORACLE_INSTANTIATE(NonMaxSuppression)

}  // namespace kforge

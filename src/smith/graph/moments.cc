#include "smith/graph/moments.h"

#include <optional>

namespace kforge::smith {
namespace {

// Longer rows do not stay in the cache of a core between two passes.
constexpr std::int64_t kLongRow = 1 << 16;
constexpr std::int64_t kBlock = 1 << 12;  // elements: half of a nearest cache

// What both ways give: sum of squares about centre + shift / parts is squares - parts * (shift / parts)^2.
struct Sums {
  Value centre, shift, squares;
  double parts = 1;  // what `shift` is a sum over
};

Value stored(Lowering& l, DType dtype, const Shape& kept, std::function<Expr(const Position&)> at,
             const std::string& hint) {
  return l.materialize(Value{dtype, kept, std::move(at), {}, 8}, hint);
}
Value share_of(Lowering& l, const Value& sum, double count, const std::string& hint) {
  return stored(
      l, sum.dtype, sum.shape,
      [=](const Position& k) {
        const Expr s = sum.at(k);
        return div(s, num(count, s));
      },
      hint);
}

// The second pass also sums the distances: what rounding left in the mean, which a small variance would
// blow up, is taken out again.
Sums two_passes(Lowering& l, const Value& x, const Axes& axes, const std::string& hint) {
  const Value sum = reduce_value(
      l, Combine::kSum, x, axes, [](const Expr& e, const Position&) { return e; }, hint + "_total");
  const Value centre = share_of(l, sum, axes.count(), hint + "_centre");
  const Value drift = reduce_value(
      l, Combine::kSum, x, axes, [&](const Expr& e, const Position& k) { return sub(e, centre.at(k)); },
      hint + "_drift");
  const Value squares = reduce_value(
      l, Combine::kSum, x, axes,
      [&](const Expr& e, const Position& k) { return square(sub(e, centre.at(k))); }, hint + "_squares");
  return {centre, drift, squares, axes.count()};
}

// How the reduced axes are cut: those before `axis` and `outer` parts of it count blocks, the rest is a
// block.
struct Cut {
  std::size_t axis = 0;
  std::int64_t outer = 1, inner = 1;
  std::int64_t block = 1, blocks = 1;
};
std::optional<Cut> cut_of(const Shape& gone) {
  Cut cut;
  for (std::size_t d = gone.size(); d-- > 0;) {
    if (cut.block * gone[d] <= kBlock && d > 0) {
      cut.block *= gone[d];
      continue;
    }
    cut.axis = d;
    for (std::int64_t n = std::min(gone[d], kBlock / cut.block); n >= 1; --n)
      if (gone[d] % n == 0) {
        cut.inner = n;
        break;
      }
    cut.outer = gone[d] / cut.inner;
    break;
  }
  cut.block *= cut.inner;
  cut.blocks = element_count(gone) / cut.block;
  if (cut.block < kBlock / 8 || cut.blocks < 2) return {};  // lengths without divisors
  return cut;
}

Sums blocked(Lowering& l, const Value& x, const Axes& axes, const Cut& cut, const std::string& hint) {
  const std::size_t rank = axes.kept.size();
  const auto head = static_cast<std::ptrdiff_t>(cut.axis);
  Shape kept = axes.kept, outer(axes.gone.begin(), axes.gone.begin() + head), inner{cut.inner};
  outer.push_back(cut.outer);
  inner.insert(inner.end(), axes.gone.begin() + head + 1, axes.gone.end());
  kept.insert(kept.end(), outer.begin(), outer.end());
  const double n = static_cast<double>(cut.block);
  auto over_block = [&](const std::function<Expr(const Expr&, const Position&)>& body,
                        const std::string& name) {
    return l.reduce(
        Combine::kSum, x.dtype, kept, inner,
        [&](const Position& k, const Position& r) {
          Position gone(k.begin() + static_cast<std::ptrdiff_t>(rank), k.end());
          gone.back() = plus(times(gone.back(), cut.inner), r[0]);
          gone.insert(gone.end(), r.begin() + 1, r.end());
          return body(
              x.at(axes.join(Position(k.begin(), k.begin() + static_cast<std::ptrdiff_t>(rank)), gone)), k);
        },
        hint + name);
  };
  const Value total = over_block([](const Expr& e, const Position&) { return e; }, "_block_total");
  const Value middle = share_of(l, total, n, hint + "_block_centre");
  const Value drift =
      over_block([&](const Expr& e, const Position& k) { return sub(e, middle.at(k)); }, "_block_drift");
  const Value spread = over_block(
      [&](const Expr& e, const Position& k) { return square(sub(e, middle.at(k))); }, "_block_squares");
  // Over the blocks of a row.
  auto over_row = [&](const std::function<Expr(const Position& row, const Position& block)>& body,
                      const std::string& name) {
    return l.reduce(
        Combine::kSum, x.dtype, axes.kept, outer,
        [&](const Position& k, const Position& r) {
          Position block = k;
          block.insert(block.end(), r.begin(), r.end());
          return body(k, block);
        },
        hint + name);
  };
  const Value sum = over_row([&](const Position&, const Position& b) { return total.at(b); }, "_total");
  const Value centre = share_of(l, sum, axes.count(), hint + "_centre");
  auto away = [=](const Position& k, const Position& b) {  // of a block's mean from the centre
    const Expr d = drift.at(b);
    return add(sub(middle.at(b), centre.at(k)), div(d, num(n, d)));
  };
  const Value shift = over_row(away, "_shift");
  const Value squares = over_row(
      [&](const Position& k, const Position& b) {
        const Expr d = drift.at(b);
        const Expr about_own = sub(spread.at(b), div(square(d), num(n, d)));
        return add(about_own, mul(square(away(k, b)), num(n, d)));
      },
      "_squares");
  return {centre, shift, squares, static_cast<double>(cut.blocks)};
}

}  // namespace

Moments moments(Lowering& l, const Value& x, const Axes& axes, double epsilon, const std::string& hint,
                double after_root) {
  const double count = axes.count();
  const auto cut = count >= static_cast<double>(kLongRow) ? cut_of(axes.gone) : std::nullopt;
  const Sums sums = cut ? blocked(l, x, axes, *cut, hint) : two_passes(l, x, axes, hint);
  auto off = [=](const Position& k) {
    const Expr s = sums.shift.at(k);
    return div(s, num(sums.parts, s));
  };
  const Value mean = stored(
      l, x.dtype, axes.kept, [=](const Position& k) { return add(sums.centre.at(k), off(k)); },
      hint + "_mean");
  const Value variance{x.dtype,
                       axes.kept,
                       [=](const Position& k) {
                         const Expr s = sums.squares.at(k);
                         return binary(Op::kMax, sub(div(s, num(count, s)), square(off(k))), num(0, s));
                       },
                       {},
                       16};
  const Value inverse = stored(
      l, x.dtype, axes.kept,
      [=](const Position& k) {
        const Expr v = variance.at(k);
        const Expr root = unary(Op::kSqrt, add(v, num(epsilon, v)));
        return div(num(1, v), add(root, num(after_root, v)));
      },
      hint + "_inverse");
  return {mean, inverse, variance};
}

}  // namespace kforge::smith

// Pooling, upsampling by nearest neighbours or linear interpolation.
#include <algorithm>
#include <cmath>
#include <limits>

#include "smith/expr/arithmetic.h"
#include "smith/graph/window.h"

namespace kforge::smith {

Shape spatial_attr(const Node& node, const char* name, std::size_t count, std::int64_t otherwise) {
  Shape values = node.ints_attr(name);
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count)
    throw Unsupported{fmt::format("{} has {} entries instead of {}", name, values.size(), count)};
  return values;
}

Window::Window(const Node& node, const Shape& data, const Shape& kernel_shape, const Shape& result)
    : input(data.begin() + 2, data.end()), kernel(kernel_shape), output(result.begin() + 2, result.end()) {
  const std::size_t rank = input.size();
  strides = spatial_attr(node, "strides", rank, 1);
  dilations = spatial_attr(node, "dilations", rank, 1);
  const Shape pads = spatial_attr(node, "pads", 2 * rank, 0);
  begins.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  ends.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  const std::string auto_pad = node.string_attr("auto_pad", "NOTSET");
  for (std::size_t d = 0; d < rank; ++d) {
    if (auto_pad == "VALID") begins[d] = ends[d] = 0;
    if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") continue;
    const std::int64_t extent = (kernel[d] - 1) * dilations[d] + 1;
    const std::int64_t total = std::max<std::int64_t>(0, (output[d] - 1) * strides[d] + extent - input[d]);
    begins[d] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    ends[d] = total - begins[d];
  }
}

ConvolutionTaps::ConvolutionTaps(const Node& node, const Shape& x, const Shape& w, const Shape& result)
    : window(node, x, Shape(w.begin() + 2, w.end()), result),
      groups(node.int_attr("group", 1)),
      channels(w[1]),
      filters(w[0] / groups),
      reduced{channels} {
  reduced.insert(reduced.end(), window.kernel.begin(), window.kernel.end());
}

ConvolutionTap ConvolutionTaps::at(const Position& k, const Position& r) const {
  ConvolutionTap at{
      {k[0], groups == 1 ? r[0] : plus(times(digit(k[1], filters, 0), channels), r[0])}, {k[1], r[0]}, {}};
  for (std::size_t d = 0; d < window.input.size(); ++d) {
    at.from.push_back(window.at(d, k[d + 2], r[d + 1]));
    at.condition = both(at.condition, inside(at.from.back(), window.input[d]));
    at.tap.push_back(r[d + 1]);
  }
  return at;
}

namespace {

// combine over the window of body(x), positions outside of the picture left out. Windows are taken apart into
// rows first and columns then where that reads less, so that the long loop runs along memory.
Value pooled(Lowering& l, const Value& x, const Window& window, Combine combine,
             const std::function<Expr(const Expr&)>& body, const std::string& hint) {
  const std::size_t rank = window.input.size(), last = rank - 1;
  const Expr nothing = identity_of(combine, x.type());
  auto windowed = [&](const Value& from, const Shape& kept, const Shape& kernel, std::size_t first,
                      std::size_t end, const std::function<Expr(const Expr&)>& fn, const std::string& name) {
    return l.reduce(
        combine, from.dtype, kept, kernel,
        [&](const Position& k, const Position& r) {
          Position p = k;
          Expr condition;
          for (std::size_t d = first; d < end; ++d) {
            p[d + 2] = window.at(d, k[d + 2], r[d - first]);
            condition = both(condition, inside(p[d + 2], window.input[d]));
          }
          return guard(condition, fn(from.at(p)), nothing);
        },
        name);
  };
  auto as_is = [](const Expr& e) { return e; };
  Shape result(x.shape.begin(), x.shape.begin() + 2);
  result.insert(result.end(), window.output.begin(), window.output.end());
  const std::int64_t above = element_count(window.kernel) / window.kernel[last];
  const bool worth =
      above > 1 && window.kernel[last] > 1 && (window.strides[last] > 1 || element_count(window.kernel) > 6);
  if (!worth) return windowed(x, result, window.kernel, 0, rank, body, hint);
  Shape rows = result;
  rows.back() = window.input[last];
  const Value partial =
      windowed(x, rows, Shape(window.kernel.begin(), window.kernel.end() - 1), 0, last, body, hint + "_rows");
  return windowed(partial, result, {window.kernel[last]}, last, rank, as_is, hint);
}

Window window_of(Lowering& l, const Value& x) {
  return Window(l.node(), x.shape, spatial_attr(l.node(), "kernel_shape", x.rank() - 2, 1), l.output_shape());
}

// Where the maxima were found: the first place in each window that holds the maximum (or no number).
Value places_of_maxima(Lowering& l, const Value& x, const Value& maxima, const Window& window) {
  constexpr std::int64_t kNowhere = std::numeric_limits<std::int64_t>::max();
  const bool columns_first = l.node().int_attr("storage_order", 0) != 0;
  return l.reduce(
      Combine::kMin, DType::kInt64, maxima.shape, window.kernel,
      [&](const Position& p, const Position& r) {
        Position from{p[0], p[1]};
        Expr condition;
        for (std::size_t d = 0; d < window.input.size(); ++d) {
          from.push_back(window.at(d, p[d + 2], r[d]));
          condition = both(condition, inside(from.back(), window.input[d]));
        }
        Shape order = x.shape;
        Position numbered = from;
        if (columns_first) {
          std::reverse(order.begin() + 2, order.end());
          std::reverse(numbered.begin() + 2, numbered.end());
        }
        const Expr value = x.at(from);
        Expr found = binary(Op::kEqual, value, maxima.at(p));
        if (is_float(x.dtype)) found = binary(Op::kOr, found, unary(Op::kIsNan, value));
        const Expr place = select(found, flat_position(order, numbered), integer(kNowhere));
        return condition ? guard(condition, place, integer(kNowhere)) : place;
      },
      l.node().outputs[1]);
}

void max_pool(Lowering& l) {
  const Value x = l.reread(l.input(0), 4, l.node().outputs[0] + "_input");
  const Window window = window_of(l, x);
  const Value maxima = pooled(
      l, x, window, Combine::kMax, [](const Expr& e) { return e; }, l.node().outputs[0]);
  l.define(0, maxima);
  if (l.wants(1)) l.define(1, places_of_maxima(l, x, maxima, window));
}

// How many positions the average divides by at output position o along one dimension; a constant where every
// window is whole.
Expr count_along(const Window& w, std::size_t d, const Expr& o, bool padding) {
  std::vector<std::int64_t> counts;
  for (std::int64_t i = 0; i < w.output[d]; ++i) {
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < w.kernel[d]; ++k) {
      const std::int64_t at = i * w.strides[d] + k * w.dilations[d] - w.begins[d];
      count += padding ? at < w.input[d] + w.ends[d] : at >= 0 && at < w.input[d];
    }
    counts.push_back(count);
  }
  // Runs of equal counts, told apart by comparisons from the end.
  Expr result = number(static_cast<double>(counts.back()));
  for (std::size_t i = counts.size() - 1; i-- > 0;)
    if (counts[i] != counts[i + 1])
      result = select(binary(Op::kLess, o, integer(static_cast<std::int64_t>(i) + 1)),
                      number(static_cast<double>(counts[i])), result);
  return result;
}

void average_pool(Lowering& l) {
  const Value x = l.reread(l.input(0), 4, l.node().outputs[0] + "_input");
  const Window window = window_of(l, x);
  const bool padding = l.node().int_attr("count_include_pad", 0) != 0;
  const Value sum = pooled(
      l, x, window, Combine::kSum, [](const Expr& e) { return e; }, l.node().outputs[0] + "_total");
  l.define_map(
      [=](const Position& p) {
        double constant = 1;
        Expr varying;
        for (std::size_t d = 0; d < window.input.size(); ++d) {
          const Expr count = count_along(window, d, p[d + 2], padding);
          if (count->op == Op::kNumber)
            constant *= count->number;
          else
            varying = varying ? binary(Op::kMul, varying, count) : count;
        }
        const Expr s = sum.at(p);
        if (!varying) return binary(Op::kMul, s, num(1 / constant, s));
        return binary(Op::kDiv, s, binary(Op::kMul, varying, num(constant, s)));
      },
      6);
}

void lp_pool(Lowering& l) {
  const Value x = l.reread(l.input(0), 4, l.node().outputs[0] + "_input");
  const double p = static_cast<double>(l.node().int_attr("p", 2));
  auto powered = [=](const Expr& e) { return binary(Op::kPow, unary(Op::kAbs, e), num(p, e)); };
  Value sum;
  if (l.node().op == "GlobalLpPool") {
    const Shape spatial(x.shape.begin() + 2, x.shape.end());
    sum = l.reduce(
        Combine::kSum, x.dtype, {x.shape[0], x.shape[1]}, spatial,
        [&](const Position& k, const Position& r) {
          Position at = k;
          at.insert(at.end(), r.begin(), r.end());
          return powered(x.at(at));
        },
        l.node().outputs[0] + "_total");
    sum = l.tensor_value(sum.tensor, l.output_shape());
  } else {
    sum = pooled(l, x, window_of(l, x), Combine::kSum, powered, l.node().outputs[0] + "_total");
  }
  l.define_map(
      [=](const Position& at) {
        const Expr s = sum.at(at);
        return binary(Op::kPow, s, num(1 / p, s));
      },
      60);
}

void global_pool(Lowering& l) {
  const Value x = l.input(0);
  const Shape spatial(x.shape.begin() + 2, x.shape.end());
  const bool average = l.node().op == "GlobalAveragePool";
  const Value total = l.reduce(
      average ? Combine::kSum : Combine::kMax, x.dtype, {x.shape[0], x.shape[1]}, spatial,
      [&](const Position& k, const Position& r) {
        Position at = k;
        at.insert(at.end(), r.begin(), r.end());
        return x.at(at);
      },
      l.node().outputs[0] + "_total");
  const Value view = l.tensor_value(total.tensor, l.output_shape());
  if (!average) return l.define(0, view);
  const double count = static_cast<double>(element_count(spatial));
  l.define_map(
      [=](const Position& p) {
        const Expr s = view.at(p);
        return binary(Op::kDiv, s, num(count, s));
      },
      2);
}

}  // namespace

const LowerTable& window_table() {
  static const LowerTable table = {
      {"MaxPool", max_pool},
      {"AveragePool", average_pool},
      {"LpPool", lp_pool},
      {"GlobalAveragePool", global_pool},
      {"GlobalMaxPool", global_pool},
      {"GlobalLpPool", lp_pool},
  };
  return table;
}

}  // namespace kforge::smith

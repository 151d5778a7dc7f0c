// Operators that only move elements: each is a change of position, so nothing is copied until it is stored.
#include <algorithm>
#include <numeric>

#include "smith/graph/lowering.h"

namespace kforge::smith {
namespace {

// Another shape for the same elements in the same order.
Value reshaped(Lowering& l, const Value& x, const Shape& shape) {
  if (!x.tensor.empty()) return l.tensor_value(x.tensor, shape);
  Value value = x;
  value.shape = shape;
  value.at = [x, shape](const Position& p) { return x.at(unflatten(flat_position(shape, p), x.shape)); };
  return value;
}
void reshape(Lowering& l) { l.define(0, reshaped(l, l.input(0), l.output_shape())); }

void transpose(Lowering& l) {
  const Value x = l.input(0);
  std::vector<std::int64_t> order = l.node().ints_attr("perm");
  if (order.empty()) {
    order.resize(x.rank());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  l.define_map(
      [=](const Position& p) {
        Position from(p.size());
        for (std::size_t d = 0; d < p.size(); ++d) from[static_cast<std::size_t>(order[d])] = p[d];
        return x.at(from);
      },
      x.cost);
}

void expand(Lowering& l) {
  const Value x = l.input(0);
  l.define_map([=](const Position& p) { return x.at(broadcast(p, x.shape)); }, x.cost);
}

void tile(Lowering& l) {
  const Value x = l.input(0);
  l.define_map(
      [=](const Position& p) {
        Position from;
        for (std::size_t d = 0; d < p.size(); ++d) from.push_back(digit(p[d], 1, x.shape[d]));
        return x.at(from);
      },
      x.cost);
}

// First element and step along every axis.
struct Steps {
  std::vector<std::int64_t> first, step;
  explicit Steps(std::size_t rank) : first(rank, 0), step(rank, 1) {}
};
std::function<Expr(const Position&)> stepped(const Value& x, const Steps& steps) {
  return [=](const Position& p) {
    Position from;
    for (std::size_t d = 0; d < p.size(); ++d)
      from.push_back(plus(times(p[d], steps.step[d]), steps.first[d]));
    return x.at(from);
  };
}

void slice(Lowering& l) {
  const Value x = l.input(0);
  const auto starts = l.constant_ints(1).value();
  std::vector<std::int64_t> axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (l.has(3)) axes = l.constant_ints(3).value();
  if (l.has(4)) steps = l.constant_ints(4).value();
  Steps at(x.rank());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto d = static_cast<std::size_t>(normal_axis(axes[i], x.rank()));
    const std::int64_t size = x.shape[d], start = starts[i];
    auto from_front = [&](std::int64_t v) { return v < 0 ? (v < -size ? -1 : v + size) : v; };
    at.first[d] = steps[i] > 0 ? std::clamp<std::int64_t>(start < -size ? 0 : from_front(start), 0, size)
                               : std::clamp<std::int64_t>(from_front(start), -1, size - 1);
    at.step[d] = l.output_shape()[d] > 1 ? steps[i] : 1;
  }
  l.define_map(stepped(x, at), x.cost);
}

void split(Lowering& l) {
  const Value x = l.input(0);
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", 0), x.rank()));
  std::int64_t start = 0;
  for (std::size_t i = 0; i < l.node().outputs.size(); ++i) {
    if (!l.wants(i)) throw Unsupported{"a piece without a name"};
    Steps at(x.rank());
    at.first[axis] = start;
    start += l.output_shape(i)[axis];
    l.define_map(stepped(x, at), x.cost, i);
  }
}

// Blocks of the channels become blocks of the picture, and back.
void depth_to_space(Lowering& l) {
  const Value x = l.input(0);
  const std::int64_t b = l.node().int_attr("blocksize", 1), channels = l.output_shape()[1];
  const bool depth_first = l.node().string_attr("mode", "DCR") == "DCR";
  l.define_map(
      [=](const Position& p) {
        const Expr block = plus(times(digit(p[2], 1, b), b), digit(p[3], 1, b));
        const Expr channel =
            depth_first ? plus(times(block, channels), p[1]) : plus(times(p[1], b * b), block);
        return x.at({p[0], channel, digit(p[2], b, 0), digit(p[3], b, 0)});
      },
      x.cost);
}
void space_to_depth(Lowering& l) {
  const Value x = l.input(0);
  const std::int64_t b = l.node().int_attr("blocksize", 1), channels = x.shape[1];
  l.define_map(
      [=](const Position& p) {
        return x.at({p[0], digit(p[1], 1, channels), plus(times(p[2], b), digit(p[1], channels * b, 0)),
                     plus(times(p[3], b), digit(p[1], channels, b))});
      },
      x.cost);
}

void concat(Lowering& l) {
  std::vector<Value> pieces;
  std::vector<std::int64_t> ends;
  const auto axis =
      static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", 0), l.output_shape().size()));
  double cost = 0;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < l.node().inputs.size(); ++i) {
    pieces.push_back(l.input(i));
    ends.push_back(end += pieces.back().shape[axis]);
    cost = std::max(cost, pieces.back().cost + 1);
  }
  l.define_map(
      [=](const Position& p) {
        Expr result;
        for (std::size_t i = pieces.size(); i-- > 0;) {
          if (pieces[i].shape[axis] == 0) continue;
          Position from = p;
          from[axis] = plus(p[axis], i == 0 ? 0 : -ends[i - 1]);
          const Expr value = pieces[i].at(from);
          result = result ? guard(binary(Op::kLess, p[axis], integer(ends[i])), value, result) : value;
        }
        return result;
      },
      cost);
}

void pad(Lowering& l) {
  const Value x = l.input(0);
  const std::string mode = l.node().string_attr("mode", "constant");
  const auto pads = l.has(1) ? l.constant_ints(1).value() : l.node().ints_attr("pads");
  std::vector<std::int64_t> axes(x.rank()), begins(x.rank(), 0);
  std::iota(axes.begin(), axes.end(), 0);
  if (l.has(3)) axes = l.constant_ints(3).value();
  for (std::size_t i = 0; i < axes.size(); ++i)
    begins[static_cast<std::size_t>(normal_axis(axes[i], x.rank()))] = pads[i];
  const std::optional<Value> given = l.has(2) ? std::optional(l.input(2)) : std::nullopt;
  const double otherwise = static_cast<double>(l.node().float_attr("value", 0));
  l.define_map(
      [=](const Position& p) {
        Position from;
        Expr condition;
        for (std::size_t d = 0; d < p.size(); ++d) {
          const std::int64_t size = x.shape[d];
          Expr at = plus(p[d], -begins[d]);
          const Range range = range_of(at);
          const bool within = range.low >= 0 && range.high < size;
          if (!within && mode == "constant") condition = both(condition, inside(at, size));
          // Positions that must not be canonical: minimum and maximum are no affine functions.
          if (!within && mode == "edge")
            at = binary(Op::kMin, binary(Op::kMax, at, integer(0)), integer(size - 1));
          if (!within && mode == "wrap") at = digit(plus(at, ((-range.low) / size + 1) * size), 1, size);
          if (!within && mode == "reflect") {
            const std::int64_t period = std::max<std::int64_t>(1, 2 * (size - 1));
            const Expr phase = digit(plus(at, ((-range.low) / period + 1) * period), 1, period);
            at = binary(Op::kMin, phase, plus(times(phase, -1), period));
          }
          from.push_back(at);
        }
        Expr value = x.at(from);
        if (!condition) return value;
        Expr constant = value->type == Type::kInt ? integer(0) : number(otherwise, value->type);
        if (given) constant = given->at(Position(given->rank(), integer(0)));
        return guard(condition, value, constant);
      },
      x.cost + 2);
}

void trilu(Lowering& l) {
  const Value x = l.input(0);
  const bool upper = l.node().int_attr("upper", 1) != 0;
  const std::size_t rank = x.rank();
  const std::int64_t rows = x.shape[rank - 2], columns = x.shape[rank - 1];
  const std::int64_t k = l.has(1) ? std::clamp(l.constant_ints(1)->at(0), -rows - 1, columns + 1) : 0;
  l.define_map(
      [=](const Position& p) {
        const Expr value = x.at(p), right = plus(p[rank - 2], k);
        const Expr zero = value->type == Type::kInt ? integer(0) : number(0, value->type);
        return select(
            upper ? binary(Op::kLessEqual, right, p[rank - 1]) : binary(Op::kLessEqual, p[rank - 1], right),
            value, zero);
      },
      x.cost + 1);
}

// Indices read from memory, negative ones counted from the end.
Expr wrapped_index(const Expr& index, std::int64_t size) {
  if (index->op == Op::kNumber) return index->integer < 0 ? integer(index->integer + size) : index;
  if (is_position(index)) return index;
  return select(binary(Op::kLess, index, integer(0)), binary(Op::kAdd, index, integer(size)), index);
}

void gather(Lowering& l) {
  const Value x = l.input(0), indices = l.input(1);
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", 0), x.rank()));
  l.define_map(
      [=](const Position& p) {
        const auto first = p.begin() + static_cast<std::ptrdiff_t>(axis);
        const auto last = first + static_cast<std::ptrdiff_t>(indices.rank());
        Position from(p.begin(), first);
        from.push_back(wrapped_index(indices.at(Position(first, last)), x.shape[axis]));
        from.insert(from.end(), last, p.end());
        return x.at(from);
      },
      x.cost + indices.cost + 2);
}
void gather_elements(Lowering& l) {
  const Value x = l.input(0), indices = l.input(1);
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", 0), x.rank()));
  l.define_map(
      [=](const Position& p) {
        Position from = p;
        from[axis] = wrapped_index(indices.at(p), x.shape[axis]);
        return x.at(from);
      },
      x.cost + indices.cost + 2);
}
void gather_nd(Lowering& l) {
  const Value x = l.input(0), indices = l.input(1);
  const auto batch = static_cast<std::size_t>(l.node().int_attr("batch_dims", 0));
  const std::size_t lead = indices.rank() - 1;
  const std::int64_t depth = indices.shape.back();
  l.define_map(
      [=](const Position& p) {
        Position from(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(batch));
        for (std::int64_t k = 0; k < depth; ++k) {
          Position at(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(lead));
          at.push_back(integer(k));
          from.push_back(wrapped_index(indices.at(at), x.shape[batch + static_cast<std::size_t>(k)]));
        }
        from.insert(from.end(), p.begin() + static_cast<std::ptrdiff_t>(lead), p.end());
        return x.at(from);
      },
      x.cost + 4);
}

void reverse_sequence(Lowering& l) {
  const Value x = l.input(0), lengths = l.input(1);
  const auto batch = static_cast<std::size_t>(l.node().int_attr("batch_axis", 1)),
             time = static_cast<std::size_t>(l.node().int_attr("time_axis", 0));
  l.define_map(
      [=](const Position& p) {
        const Expr length = lengths.at({p[batch]});
        Position from = p;
        from[time] = select(binary(Op::kLess, p[time], length),
                            binary(Op::kSub, binary(Op::kSub, length, integer(1)), p[time]), p[time]);
        return x.at(from);
      },
      x.cost + 3);
}

void constant_of_shape(Lowering& l) {
  double value = 0;
  std::int64_t whole = 0;
  if (const ConstantTensor* given = l.node().tensor_attr("value")) {
    value = given->as_double().at(0);
    whole = given->as_int64().at(0);
  }
  const Type type = type_for(l.output_dtype());
  l.define_map(
      [=](const Position&) {
        return type == Type::kInt ? integer(whole) : number(type == Type::kBool ? whole != 0 : value, type);
      },
      0);
}
void constant(Lowering& l) {
  if (const ConstantTensor* value = l.node().tensor_attr("value")) {
    l.define(0, constant_value(l, l.node().outputs[0], *value));
    return;
  }
  throw Unsupported{"a constant that is no tensor of numbers"};
}
void range(Lowering& l) {
  const Value start = l.input(0), delta = l.input(2);
  const DType dtype = l.output_dtype();
  l.define_map(
      [=](const Position& p) {
        const Expr first = start.at({}), step = delta.at({});
        std::int64_t a, b;
        if (is_constant(first, &a) && is_constant(step, &b)) return plus(times(p[0], b), a);
        const Expr i = type_for(dtype) == Type::kInt ? p[0] : cast(p[0], dtype);
        return binary(Op::kAdd, first, binary(Op::kMul, i, step));
      },
      3);
}
void eye_like(Lowering& l) {
  const std::int64_t k = l.node().int_attr("k", 0);
  const DType dtype = l.output_dtype();
  l.define_map(
      [=](const Position& p) {
        const Type type = type_for(dtype);
        auto value = [&](int v) { return type == Type::kInt ? integer(v) : number(v, type); };
        return select(binary(Op::kEqual, plus(p[0], k), p[1]), value(1), value(0));
      },
      1);
}
void one_hot(Lowering& l) {
  const Value indices = l.input(0), values = l.input(2);
  const std::int64_t depth = l.constant_ints(1)->at(0);
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", -1), indices.rank() + 1));
  l.define_map(
      [=](const Position& p) {
        Position at = p;
        at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
        const Expr index = wrapped_index(cast(indices.at(at), DType::kInt64), depth);
        return select(binary(Op::kEqual, index, p[axis]), values.at({integer(1)}), values.at({integer(0)}));
      },
      3);
}
void shape_of(Lowering& l) {
  const Shape shape = l.input(0).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  auto clamped = [&](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t start = clamped(l.node().int_attr("start", 0));
  l.define_map(
      [=](const Position& p) {
        Expr result = integer(shape.empty() ? 0 : shape.back());
        for (std::size_t d = shape.size(); d-- > 0;)
          result = select(binary(Op::kEqual, plus(p[0], start), integer(static_cast<std::int64_t>(d))),
                          integer(shape[d]), result);
        return result;
      },
      1);
}
void size_of_tensor(Lowering& l) {
  const std::int64_t count = element_count(l.input(0).shape);
  l.define_map([=](const Position&) { return integer(count); }, 0);
}

}  // namespace

const LowerTable& movement_table() {
  static const LowerTable table = {
      {"Reshape", reshape},
      {"Flatten", reshape},
      {"Squeeze", reshape},
      {"Unsqueeze", reshape},
      {"Transpose", transpose},
      {"Expand", expand},
      {"Tile", tile},
      {"Slice", slice},
      {"Split", split},
      {"DepthToSpace", depth_to_space},
      {"SpaceToDepth", space_to_depth},
      {"Concat", concat},
      {"Pad", pad},
      {"Trilu", trilu},
      {"Gather", gather},
      {"GatherElements", gather_elements},
      {"GatherND", gather_nd},
      {"ReverseSequence", reverse_sequence},
      {"Constant", constant},
      {"ConstantOfShape", constant_of_shape},
      {"Range", range},
      {"EyeLike", eye_like},
      {"OneHot", one_hot},
      {"Shape", shape_of},
      {"Size", size_of_tensor},
  };
  return table;
}

}  // namespace kforge::smith

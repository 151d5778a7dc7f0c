// Graphs inside of operators. What is known now is written out: the branch that is taken, the turns of a loop
// whose count is fixed. A branch that depends on data is computed both ways and chosen between.
#include <algorithm>

#include "smith/graph/lowering.h"

namespace kforge::smith {
namespace {

constexpr std::int64_t kMostNodes = 2000;  // of all turns together: a program beyond that is no kernel

const Graph& body_of(const Lowering& l, const char* name) {
  const Graph* body = l.node().graph_attr(name);
  if (!body) throw Unsupported{fmt::format("without its graph '{}'", name)};
  return *body;
}

// The number a value is, where that is known.
std::optional<std::int64_t> known(const Value& value) {
  if (element_count(value.shape) != 1) return std::nullopt;
  const Expr e = value.at(Position(value.rank(), integer(0)));
  if (e->op != Op::kNumber) return std::nullopt;
  return e->type == Type::kInt ? e->integer : static_cast<std::int64_t>(e->number);
}

Value scalar(std::int64_t v, DType dtype) {
  Expr e = dtype == DType::kBool ? number(v != 0, Type::kBool) : integer(v);
  return Value{dtype, {}, [e](const Position&) { return e; }, {}, 0};
}

void check_size(std::int64_t turns, const Graph& body) {
  if (turns * static_cast<std::int64_t>(body.nodes.size()) > kMostNodes)
    throw Unsupported{
        fmt::format("with {} turns of {} operators: too long to write out", turns, body.nodes.size())};
}

// Tensors of one shape as slices along a new axis.
Value stacked(Lowering& l, const std::vector<Value>& slices, std::size_t axis, const std::string& hint) {
  Shape shape = slices[0].shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::int64_t>(slices.size()));
  Value all{slices[0].dtype, shape, {}, {}, 2};
  all.at = [slices, axis](const Position& p) {
    Position at = p;
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
    Expr value = slices.back().at(at);
    for (std::size_t i = slices.size() - 1; i-- > 0;)
      value = guard(binary(Op::kLess, p[axis], integer(static_cast<std::int64_t>(i) + 1)), slices[i].at(at),
                    value);
    return value;
  };
  return slices.size() > 4 ? l.materialize(all, hint) : all;
}

void if_op(Lowering& l) {
  const Value condition = l.input(0);
  const Graph &then_body = body_of(l, "then_branch"), &else_body = body_of(l, "else_branch");
  if (const auto taken = known(condition)) {
    const auto results = l.run_body(*taken ? then_body : else_body, {});
    for (std::size_t i = 0; i < results.size(); ++i) l.define(i, results[i]);
    return;
  }
  const auto yes = l.run_body(then_body, {}), no = l.run_body(else_body, {});
  for (std::size_t i = 0; i < std::min(yes.size(), no.size()); ++i) {
    if (yes[i].shape != no[i].shape) throw Unsupported{"with branches of different shapes"};
    Value chosen = yes[i];
    chosen.tensor.clear();
    chosen.cost = yes[i].cost + no[i].cost + condition.cost;
    chosen.at = [condition, a = yes[i], b = no[i]](const Position& p) {
      return select(condition.at(Position(condition.rank(), integer(0))), a.at(p), b.at(p));
    };
    l.define(i, chosen);
  }
}

// Body: (turn, condition, state...) to (condition, state..., slices...).
void loop(Lowering& l) {
  const Graph& body = body_of(l, "body");
  const std::size_t states = body.inputs.size() - 2;
  if (body.inputs.size() < 2 || body.outputs.size() < 1 + states)
    throw Unsupported{"with a body that does not fit"};
  const auto count = l.has(0) ? known(l.input(0)) : std::nullopt;
  if (!count) throw Unsupported{"whose number of turns depends on data"};
  auto go_on = l.has(1) ? known(l.input(1)) : std::optional<std::int64_t>(1);
  if (!go_on) throw Unsupported{"whose number of turns depends on data"};
  check_size(*count, body);
  std::vector<Value> state;
  for (std::size_t i = 0; i < states; ++i) state.push_back(l.input(2 + i));
  std::vector<std::vector<Value>> slices(body.outputs.size() - 1 - states);
  for (std::int64_t turn = 0; turn < *count && *go_on; ++turn) {
    std::vector<Value> inputs = {scalar(turn, DType::kInt64), scalar(1, DType::kBool)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const auto results = l.run_body(body, inputs);
    go_on = known(results[0]);
    if (!go_on) throw Unsupported{"that may end early, depending on data"};
    for (std::size_t s = 0; s < states; ++s) state[s] = l.reread(results[1 + s], 2, body.outputs[1 + s].name);
    for (std::size_t s = 0; s < slices.size(); ++s)
      slices[s].push_back(l.reread(results[1 + states + s], 2, body.outputs[1 + states + s].name));
  }
  for (std::size_t s = 0; s < states; ++s) l.define(s, state[s]);
  for (std::size_t s = 0; s < slices.size(); ++s) {
    if (slices[s].empty()) throw Unsupported{"that never runs"};
    l.define(states + s, stacked(l, slices[s], 0, "slices"));
  }
}

// Body: (state..., slices of sequences...) to (state..., slices...).
void scan(Lowering& l) {
  const Graph& body = body_of(l, "body");
  const auto sequences =
      static_cast<std::size_t>(std::max<std::int64_t>(0, l.node().int_attr("num_scan_inputs", 0)));
  if (sequences < 1 || sequences > body.inputs.size() || body.inputs.size() != l.node().inputs.size())
    throw Unsupported{"with a body that does not fit"};
  const std::size_t states = body.inputs.size() - sequences;
  if (body.outputs.size() < states) throw Unsupported{"with a body that does not fit"};
  auto list = [&](const char* name, std::size_t count) {
    auto values = l.node().ints_attr(name);
    values.resize(count, 0);
    return values;
  };
  const std::size_t scans = body.outputs.size() - states;
  const auto in_axes = list("scan_input_axes", sequences),
             in_directions = list("scan_input_directions", sequences);
  const auto out_axes = list("scan_output_axes", scans),
             out_directions = list("scan_output_directions", scans);
  std::vector<Value> state, walked;
  for (std::size_t i = 0; i < states; ++i) state.push_back(l.input(i));
  for (std::size_t i = 0; i < sequences; ++i) walked.push_back(l.reread(l.input(states + i), 2, "sequence"));
  std::int64_t length = 0;
  for (std::size_t i = 0; i < sequences; ++i)
    length = walked[i].shape[static_cast<std::size_t>(normal_axis(in_axes[i], walked[i].rank()))];
  check_size(length, body);
  std::vector<std::vector<Value>> slices(scans);
  for (std::int64_t t = 0; t < length; ++t) {
    std::vector<Value> inputs = state;
    for (std::size_t i = 0; i < sequences; ++i) {
      const Value& whole = walked[i];
      const auto axis = static_cast<std::size_t>(normal_axis(in_axes[i], whole.rank()));
      const Expr at = integer(in_directions[i] ? length - 1 - t : t);
      Value slice{whole.dtype, whole.shape, {}, {}, whole.cost};
      slice.shape.erase(slice.shape.begin() + static_cast<std::ptrdiff_t>(axis));
      slice.at = [whole, axis, at](const Position& p) {
        Position from = p;
        from.insert(from.begin() + static_cast<std::ptrdiff_t>(axis), at);
        return whole.at(from);
      };
      inputs.push_back(slice);
    }
    const auto results = l.run_body(body, inputs);
    for (std::size_t s = 0; s < states; ++s) state[s] = l.reread(results[s], 2, body.outputs[s].name);
    for (std::size_t s = 0; s < scans; ++s)
      slices[s].push_back(l.reread(results[states + s], 2, body.outputs[states + s].name));
  }
  for (std::size_t s = 0; s < states; ++s) l.define(s, state[s]);
  for (std::size_t s = 0; s < scans; ++s) {
    if (slices[s].empty()) throw Unsupported{"over sequences without elements"};
    if (out_directions[s]) std::reverse(slices[s].begin(), slices[s].end());
    const auto axis = static_cast<std::size_t>(normal_axis(out_axes[s], slices[s][0].rank() + 1));
    l.define(states + s, stacked(l, slices[s], axis, "slices"));
  }
}

}  // namespace

const LowerTable& control_table() {
  static const LowerTable table = {{"If", if_op}, {"Loop", loop}, {"Scan", scan}};
  return table;
}

}  // namespace kforge::smith

// RNN, GRU and LSTM. What comes from the input is one matrix product over all steps; what depends on the step
// before follows in a kernel of its own (kernels/operators/recurrent.h).
#include <algorithm>
#include <cmath>

#include "smith/graph/native_code.h"

namespace kforge::smith {
namespace {

struct Cell {
  std::int64_t steps, batch, input, hidden, directions, gates;
  bool reverse_only, batch_first;
  Value x, w, r;
  std::optional<Value> bias, lengths;
};

// Narrow floating types are stored as float by then.
std::string type_of(const Cell& c) { return c.x.dtype == DType::kFloat64 ? "double" : "float"; }

// Hidden units whose weights lie side by side (Recurrence::kGroup).
std::int64_t group_of(const Cell& c) { return c.x.dtype == DType::kFloat64 ? 1 : 16; }
std::int64_t groups_of(const Cell& c) { return (c.hidden + group_of(c) - 1) / group_of(c); }

// Activation `index` of the node as an expression of x: a double, or a vector of floats.
std::string activation(const Lowering& l, std::size_t index, const std::vector<std::string>& defaults,
                       const std::string& type) {
  std::vector<std::string> names;
  if (const auto found = l.node().attributes.find("activations"); found != l.node().attributes.end())
    if (const auto* list = std::get_if<std::vector<std::string>>(&found->second)) names = *list;
  std::string name = index < names.size() ? names[index] : defaults[index % defaults.size()];
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto alphas = l.node().floats_attr("activation_alpha"),
             betas = l.node().floats_attr("activation_beta");
  auto constant = [&](const std::vector<float>& list, float otherwise) {
    return fmt::format("{}({:.9g})", type, index < list.size() ? list[index] : otherwise);
  };
  const bool wide = type == "float";
  const auto either = [&](std::string of_vectors, std::string of_doubles) {
    return wide ? std::move(of_vectors) : std::move(of_doubles);
  };
  const std::string alpha = constant(alphas, 1), beta = constant(betas, 0);
  std::string body;
  if (name == "tanh") body = either("tanh_of(x)", "std::tanh(x)");
  if (name == "sigmoid")
    body = either("sigmoid_of(x)", "(x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)))");
  if (name == "relu") body = either("pick(x < 0, set<decltype(x)>(0), x)", "x < 0 ? 0 : x");
  if (name == "affine") body = alpha + " * x + " + beta;
  if (name == "leakyrelu") {
    const std::string slope = constant(alphas, 0.01f);
    body = either("pick(x < 0, " + slope + " * x, x)", "x < 0 ? " + slope + " * x : x");
  }
  if (name == "thresholdedrelu")
    body = either("pick(x <= " + alpha + ", set<decltype(x)>(0), x)", "x <= " + alpha + " ? 0 : x");
  if (name == "scaledtanh")
    body = alpha + either(" * tanh_of(", " * std::tanh(") + constant(betas, 1) + " * x)";
  if (name == "hardsigmoid") {
    const std::string line = constant(alphas, 0.2f) + " * x + " + constant(betas, 0.5f);
    body = either("at_most(at_least(" + line + ", 0.0f), 1.0f)",
                  "std::min(std::max(" + line + ", double(0)), double(1))");
  }
  if (name == "elu")
    body = either("pick(x < 0, " + alpha + " * expm1_of(x), x)", "x < 0 ? " + alpha + " * std::expm1(x) : x");
  if (name == "softsign") body = either("x / (1 + magnitude(x))", "x / (1 + std::fabs(x))");
  if (name == "softplus")
    body = either("softplus_of(x)", "x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x))");
  if (body.empty()) throw Unsupported{fmt::format("with activation \"{}\"", name)};
  return body;
}

Cell cell_of(Lowering& l, std::int64_t gates) {
  Cell c{};
  const std::string direction = l.node().string_attr("direction", "forward");
  c.gates = gates;
  c.directions = direction == "bidirectional" ? 2 : 1;
  c.reverse_only = direction == "reverse";
  c.batch_first = l.node().int_attr("layout", 0) != 0;
  c.x = l.input(0);
  if (c.batch_first) {
    const Value x = c.x;
    c.x.tensor.clear();
    std::swap(c.x.shape[0], c.x.shape[1]);
    c.x.at = [x](const Position& p) { return x.at({p[1], p[0], p[2]}); };
  }
  c.steps = c.x.shape[0];
  c.batch = c.x.shape[1];
  c.input = c.x.shape[2];
  c.w = l.input(1);
  c.r = stored(l, l.input(2), "recurrent_weights");
  c.hidden = c.r.shape[2];
  if (l.has(3)) c.bias = l.input(3);
  if (l.has(4)) c.lengths = stored(l, l.input(4), "lengths");
  return c;
}

// The products of input and weights, with the input's bias: [direction][step][batch][gates * hidden].
Value input_products(Lowering& l, const Cell& c) {
  std::vector<Value> products;
  const std::int64_t columns = c.gates * c.hidden;
  const Value x = only_moves(c.x) ? c.x : stored(l, c.x, "sequence");
  for (std::int64_t d = 0; d < c.directions; ++d) {
    // Under the shape of the gates: of one direction, the bias is then the product's epilogue.
    products.push_back(l.reduce(
        Combine::kSum, x.dtype, {1, c.steps, c.batch, columns}, {c.input},
        [&](const Position& k, const Position& r) {
          return binary(Op::kMul, x.at({k[1], k[2], r[0]}), c.w.at({integer(d), k[3], r[0]}));
        },
        "from_input"));
    l.program().stages.back().node = &l.node();
  }
  Value all{x.dtype, {c.directions, c.steps, c.batch, columns}, {}, {}, 4};
  all.at = [products, bias = c.bias](const Position& p) {
    const Position within{integer(0), p[1], p[2], p[3]};
    Expr sum = products[0].at(within);
    if (products.size() == 2) sum = select(binary(Op::kEqual, p[0], integer(0)), sum, products[1].at(within));
    return bias ? binary(Op::kAdd, sum, bias->at({p[0], p[3]})) : sum;
  };
  return l.materialize(all, "gates");
}

// Units lie in groups; behind the last one, zeros fill its group.
Expr unit_of(const Cell& c, const Expr& group, const Expr& place) {
  return binary(Op::kAdd, binary(Op::kMul, group, integer(group_of(c))), place);
}
Expr only_units(const Cell& c, const Expr& unit, const Type& type,
                const std::function<Expr(const Expr&)>& at) {
  if (c.hidden % group_of(c) == 0) return at(unit);
  const Expr exists = binary(Op::kLess, unit, integer(c.hidden));
  return select(exists, at(select(exists, unit, integer(0))), number(0, type));
}

// The recurrent weights in the order in which a step reads them: [direction][group][hidden][gate][place].
Value packed_weights(Lowering& l, const Cell& c) {
  Value packed{c.r.dtype, {c.directions, groups_of(c), c.hidden, c.gates, group_of(c)}, {}, {}, 1};
  packed.at = [c, type = packed.type()](const Position& p) {
    return only_units(c, unit_of(c, p[1], p[4]), type, [&](const Expr& unit) {
      const Expr row = binary(Op::kAdd, binary(Op::kMul, p[3], integer(c.hidden)), unit);
      return c.r.at({p[0], row, p[2]});
    });
  };
  return l.materialize(packed, "step_weights");
}
// The recurrent half of the bias, its gates padded to whole groups.
Value packed_bias(Lowering& l, const Cell& c) {
  Value packed{c.bias->dtype, {c.directions, c.gates, groups_of(c), group_of(c)}, {}, {}, 1};
  packed.at = [c, type = packed.type()](const Position& p) {
    return only_units(c, unit_of(c, p[2], p[3]), type, [&](const Expr& unit) {
      const Expr gate = binary(Op::kAdd, p[1], integer(c.gates));
      return c.bias->at({p[0], binary(Op::kAdd, binary(Op::kMul, gate, integer(c.hidden)), unit)});
    });
  };
  return l.materialize(packed, "step_bias");
}

// An initial state as [direction][batch][hidden]; zeros where there is none.
Value initial_state(Lowering& l, const Cell& c, std::size_t input, const char* hint) {
  Value state{c.x.dtype, {c.directions, c.batch, c.hidden}, {}, {}, 1};
  if (!l.has(input)) {
    const Type type = state.type();
    state.at = [type](const Position&) { return number(0, type); };
  } else {
    const Value& given = l.input(input);
    state.at = [given, first = c.batch_first](const Position& p) {
      return first ? given.at({p[1], p[0], p[2]}) : given.at(p);
    };
  }
  return l.materialize(state, hint);  // written to: never the argument itself
}

// A call of kernels/operators/recurrent.h: `function`(the recurrence, `arguments`). `also_reads` and
// `also_writes` are tensors among the arguments. Defines Y and the last state.
void run_steps(Lowering& l, const Cell& c, const std::string& function, const std::string& arguments,
               const std::vector<std::string>& also_reads = {},
               const std::vector<std::string>& also_writes = {}) {
  const Value gates = input_products(l, c), state = initial_state(l, c, 5, "state");
  const std::string y = l.new_tensor("outputs", c.x.dtype, {c.steps, c.directions, c.batch, c.hidden});
  const std::string next = l.new_tensor("next_state", c.x.dtype, {c.directions, c.batch, c.hidden});
  const Value weights = packed_weights(l, c);
  NativeCode code;
  code.parallel = true;
  code.reads = {weights.tensor, gates.tensor, state.tensor};
  code.writes = {y, state.tensor, next};
  std::string bias = "nullptr", lengths = "nullptr", limit = "__builtin_inff()";
  if (c.bias) {
    const Value stored_bias = packed_bias(l, c);
    code.reads.push_back(stored_bias.tensor);
    bias = "{" + stored_bias.tensor + "}";
  }
  if (c.lengths) {
    code.reads.push_back(c.lengths->tensor);
    lengths = "{" + c.lengths->tensor + "}";
  }
  if (l.node().has_attr("clip"))
    limit = fmt::format("{:.9g}", static_cast<double>(l.node().float_attr("clip", 0)));
  code.reads.insert(code.reads.end(), also_reads.begin(), also_reads.end());
  code.writes.insert(code.writes.end(), also_writes.begin(), also_writes.end());
  code.headers = {"operators/recurrent.h"};
  if (type_of(c) == "float")
    code.headers.insert({"math/bits.h", "math/expm1.h", "math/sigmoid.h", "math/softplus.h", "math/tanh.h",
                         "vectors/extrema.h"});
  code.lines = fmt::format(
      "{}(Recurrence<{}, {}, {}, {}, {}, {}>{{.reversed = {}, .limit = {}, .weights = {{{}}}, .products = "
      "{{{}}}, "
      ".bias = {}, .lengths = {}, .state = {{{}}}, .next = {{{}}}, .y = {{{}}}}}, {});",
      function, type_of(c), c.directions, c.gates, c.hidden, c.batch, c.steps, c.reverse_only, limit,
      weights.tensor, gates.tensor, bias, lengths, state.tensor, next, y, arguments);
  l.add_native_code(std::move(code), l.node().name);
  const Value all = l.tensor_value(y, {c.steps, c.directions, c.batch, c.hidden});
  if (l.wants(0))
    l.define_map(
        [all, first = c.batch_first](const Position& p) {
          return first ? all.at({p[1], p[2], p[0], p[3]}) : all.at(p);
        },
        1, 0);
  if (l.wants(1))
    l.define_map(
        [state, first = c.batch_first](const Position& p) {
          return first ? state.at({p[1], p[0], p[2]}) : state.at(p);
        },
        1, 1);
}

// Activation `role` of both directions as a function: those of the second direction follow those of the first
// in the node's list.
std::string directed(const Lowering& l, const Cell& c, std::size_t role, std::size_t roles,
                     const std::vector<std::string>& defaults) {
  const std::string type = type_of(c);
  std::string body = activation(l, role, defaults, type);
  if (c.directions == 2) {
    const std::string backward = activation(l, roles + role, defaults, type);
    if (backward != body) body = fmt::format("d == 0 ? decltype(x)({}) : decltype(x)({})", body, backward);
  }
  return fmt::format("[]([[maybe_unused]] long d, auto x) -> decltype(x) {{ return {}; }}", body);
}

void rnn(Lowering& l) {
  const Cell c = cell_of(l, 1);
  run_steps(l, c, "rnn_steps", directed(l, c, 0, 1, {"Tanh"}));
}

void gru(Lowering& l) {
  const Cell c = cell_of(l, 3);
  const std::vector<std::string> defaults = {"Sigmoid", "Tanh"};
  std::vector<std::string> also;
  std::string reset = fmt::format("({}*)nullptr", type_of(c));
  if (l.node().int_attr("linear_before_reset", 0) == 0) {
    also.push_back(l.new_tensor("reset_state", c.x.dtype, {2, c.directions, c.batch, c.hidden}));
    reset = "{" + also[0] + "}";
  }
  run_steps(l, c, "gru_steps",
            fmt::format("{}, {}, {}", reset, directed(l, c, 0, 2, defaults), directed(l, c, 1, 2, defaults)),
            {}, also);
}

void lstm(Lowering& l) {
  const Cell c = cell_of(l, 4);
  const std::vector<std::string> defaults = {"Sigmoid", "Tanh", "Tanh"};
  const Value cell = initial_state(l, c, 6, "cell");
  const bool coupled = l.node().int_attr("input_forget", 0) != 0;
  std::vector<std::string> also_reads = {cell.tensor};  // starts from what is there
  std::string peepholes = fmt::format("(const {}*)nullptr", type_of(c));
  if (l.has(7)) {
    const Value stored_peep = stored(l, l.input(7), "peepholes");
    also_reads.push_back(stored_peep.tensor);
    peepholes = fmt::format("(const {}*){{{}}}", type_of(c), stored_peep.tensor);
  }
  run_steps(l, c, fmt::format("lstm_steps<{}>", coupled),
            fmt::format("{{{}}}, {}, {}, {}, {}", cell.tensor, peepholes, directed(l, c, 0, 3, defaults),
                        directed(l, c, 1, 3, defaults), directed(l, c, 2, 3, defaults)),
            also_reads, {cell.tensor});
  if (l.wants(2))
    l.define_map(
        [cell, first = c.batch_first](const Position& p) {
          return first ? cell.at({p[1], p[0], p[2]}) : cell.at(p);
        },
        1, 2);
}

}  // namespace

const LowerTable& recurrent_table() {
  static const LowerTable table = {{"RNN", rnn}, {"GRU", gru}, {"LSTM", lstm}};
  return table;
}

}  // namespace kforge::smith

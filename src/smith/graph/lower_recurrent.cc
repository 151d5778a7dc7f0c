// RNN, GRU and LSTM. What comes from the input is one matrix product over all steps; what depends on the step
// before follows in handwritten lines, the hidden units of a step shared out among the threads. A sequence
// that has ended keeps its state, and its outputs are zero from there on.
#include <algorithm>
#include <cmath>

#include "smith/graph/handwriting.h"

namespace kforge::smith {
namespace {

struct Cell {
  std::int64_t steps, batch, input, hidden, directions, gates;
  bool reverse_only, batch_first;
  Value x, w, r;
  std::optional<Value> bias, lengths;
};

// C++ that applies activation `index` of the node to the expression x.
std::string activation(const Lowering& l, std::size_t index, const std::vector<std::string>& defaults,
                       const std::string& type, const std::string& x) {
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
  const std::string sigmoid = "(x_ >= 0 ? 1 / (1 + std::exp(-x_)) : std::exp(x_) / (1 + std::exp(x_)))";
  std::string body;
  if (name == "tanh") body = "std::tanh(x_)";
  if (name == "sigmoid") body = sigmoid;
  if (name == "relu") body = "x_ < 0 ? 0 : x_";
  if (name == "affine") body = constant(alphas, 1) + " * x_ + " + constant(betas, 0);
  if (name == "leakyrelu") body = "x_ < 0 ? " + constant(alphas, 0.01f) + " * x_ : x_";
  if (name == "thresholdedrelu") body = "x_ <= " + constant(alphas, 1) + " ? 0 : x_";
  if (name == "scaledtanh") body = constant(alphas, 1) + " * std::tanh(" + constant(betas, 1) + " * x_)";
  if (name == "hardsigmoid")
    body = fmt::format("std::min(std::max({} * x_ + {}, {}(0)), {}(1))", constant(alphas, 0.2f),
                       constant(betas, 0.5f), type, type);
  if (name == "elu") body = "x_ < 0 ? " + constant(alphas, 1) + " * std::expm1(x_) : x_";
  if (name == "softsign") body = "x_ / (1 + std::fabs(x_))";
  if (name == "softplus") body = "x_ > 0 ? x_ + std::log1p(std::exp(-x_)) : std::log1p(std::exp(x_))";
  if (body.empty()) throw Unsupported{fmt::format("with activation \"{}\"", name)};
  return fmt::format("[](const {} x_) -> {} {{ return {}; }}({})", type, type, body, x);
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
  const Value x = stored(l, c.x, "sequence");
  for (std::int64_t d = 0; d < c.directions; ++d) {
    products.push_back(l.reduce(
        Combine::kSum, x.dtype, {c.steps, c.batch, columns}, {c.input},
        [&](const Position& k, const Position& r) {
          return binary(Op::kMul, x.at({k[0], k[1], r[0]}), c.w.at({integer(d), k[2], r[0]}));
        },
        "from_input"));
    l.program().stages.back().node = &l.node();
  }
  Value all{x.dtype, {c.directions, c.steps, c.batch, columns}, {}, {}, 4};
  all.at = [products, bias = c.bias](const Position& p) {
    Expr sum = products[0].at({p[1], p[2], p[3]});
    if (products.size() == 2)
      sum = select(binary(Op::kEqual, p[0], integer(0)), sum, products[1].at({p[1], p[2], p[3]}));
    return bias ? binary(Op::kAdd, sum, bias->at({p[0], p[3]})) : sum;
  };
  return l.materialize(all, "gates");
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

// One step is: for all units, %UNIT% makes `next_` from b_, j_, the gates at x_ and the state h_. A GRU that
// resets before the product needs the reset of every unit first.
constexpr std::string_view kSteps = R"(for (long d_ = 0; d_ < %D%; ++d_) {
  const %T%* const r_ = {%R%} + d_ * %G% * %H% * %H%;
  %T%* const state_ = {%STATE%} + d_ * %B% * %H%;
  for (long t_ = 0; t_ < %STEPS%; ++t_) {
%BEFORE%#pragma omp for schedule(static)
    for (long unit_ = 0; unit_ < %B% * %H%; ++unit_) {
      const long b_ = unit_ / %H%, j_ = unit_ % %H%, length_ = %LENGTH%;
      const %T%* const h_ = state_ + b_ * %H%;
      %T% next_ = h_[j_];
      if (t_ < length_) {
        const long time_ = %REVERSED% ? length_ - 1 - t_ : t_;
        const %T%* const x_ = {%GATES%} + ((d_ * %STEPS% + time_) * %B% + b_) * %G% * %H%;
        auto product_ = [&](long gate_, const %T%* with_) {
          %T% sum_ = 0;
          for (long k_ = 0; k_ < %H%; ++k_) sum_ += r_[(gate_ * %H% + j_) * %H% + k_] * with_[k_];
          return sum_%BIAS%;
        };
        auto clipped_ = [](%T% v_) { return %CLIP%; };
%UNIT%        {%Y%}[((time_ * %D% + d_) * %B% + b_) * %H% + j_] = next_;
      } else {
        {%Y%}[((t_ * %D% + d_) * %B% + b_) * %H% + j_] = 0;
      }
      {%NEXT%}[unit_] = next_;
    }
#pragma omp for schedule(static)
    for (long unit_ = 0; unit_ < %B% * %H%; ++unit_) state_[unit_] = {%NEXT%}[unit_];
  }
})";

// The reset of every unit times the state, before the candidate's product. `x_` needs the same names as
// above.
constexpr std::string_view kResets = R"(#pragma omp for schedule(static)
    for (long unit_ = 0; unit_ < %B% * %H%; ++unit_) {
      const long b_ = unit_ / %H%, j_ = unit_ % %H%, length_ = %LENGTH%;
      const %T%* const h_ = state_ + b_ * %H%;
      %T% sum_ = 0;
      if (t_ < length_) {
        const long time_ = %REVERSED% ? length_ - 1 - t_ : t_;
        sum_ = {%GATES%}[((d_ * %STEPS% + time_) * %B% + b_) * %G% * %H% + %H% + j_];
        for (long k_ = 0; k_ < %H%; ++k_) sum_ += r_[(%H% + j_) * %H% + k_] * h_[k_];
        const long gate_ = 1;
        sum_ = sum_%BIAS%;
      }
      auto clipped_ = [](%T% v_) { return %CLIP%; };
      {%RESET%}[unit_] = %ACT_RESET% * h_[j_];
    }
)";

// Runs the steps with the lines of a unit (and those before it); writes Y and the last state.
void run_steps(Lowering& l, const Cell& c, const std::string& unit, std::map<std::string, std::string> holes,
               const std::vector<std::string>& also_reads, const std::vector<std::string>& also_writes,
               const std::string& before = {}) {
  const Value gates = input_products(l, c), state = initial_state(l, c, 5, "state");
  const std::string y = l.new_tensor("outputs", c.x.dtype, {c.steps, c.directions, c.batch, c.hidden});
  const std::string next = l.new_tensor("next_state", c.x.dtype, {c.batch, c.hidden});
  Handwritten code;
  code.parallel = true;
  code.reads = {c.r.tensor, gates.tensor, state.tensor};
  code.writes = {y, state.tensor, next};
  auto number_of = [](std::int64_t v) { return std::to_string(v); };
  std::string bias;
  if (c.bias) {
    const Value stored_bias = stored(l, *c.bias, "bias");
    code.reads.push_back(stored_bias.tensor);
    bias = fmt::format(" + {{{}}}[(d_ * 2 + 1) * {} + gate_ * {} + j_]", stored_bias.tensor,
                       c.gates * c.hidden, c.hidden);
  }
  std::string length = number_of(c.steps);
  if (c.lengths) {
    code.reads.push_back(c.lengths->tensor);
    length = fmt::format("{{{}}}[b_]", c.lengths->tensor);
  }
  const std::string type(
      c_type_of(is_float(c.x.dtype) && c.x.dtype != DType::kFloat64 ? DType::kFloat32 : c.x.dtype));
  std::string clip = "v_";
  if (l.node().has_attr("clip")) {
    const auto limit = static_cast<double>(l.node().float_attr("clip", 0));
    clip = fmt::format("v_ < {1}(-{0:.9g}) ? {1}(-{0:.9g}) : v_ > {1}({0:.9g}) ? {1}({0:.9g}) : v_", limit,
                       type);
  }
  for (const std::string& tensor : also_reads) code.reads.push_back(tensor);
  for (const std::string& tensor : also_writes) code.writes.push_back(tensor);
  holes.insert({{"T", type},
                {"D", number_of(c.directions)},
                {"G", number_of(c.gates)},
                {"H", number_of(c.hidden)},
                {"B", number_of(c.batch)},
                {"STEPS", number_of(c.steps)},
                {"R", c.r.tensor},
                {"STATE", state.tensor},
                {"NEXT", next},
                {"GATES", gates.tensor},
                {"Y", y},
                {"LENGTH", length},
                {"BIAS", bias},
                {"CLIP", clip},
                {"REVERSED", c.reverse_only ? "true" : "d_ == 1"}});
  // The lines of a unit have holes of their own: the outer text first.
  const std::string outer = filled(kSteps, {{"BEFORE", before}, {"UNIT", unit}});
  code.lines = filled(outer, holes);
  l.handwrite(std::move(code), l.node().name);
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

// Activation `role` in both directions: those of the second follow those of the first in the node's list.
std::string directed(const Lowering& l, const Cell& c, std::size_t role, std::size_t roles,
                     const std::vector<std::string>& defaults, const std::string& x) {
  const std::string type = c.x.dtype == DType::kFloat64 ? "double" : "float";
  std::string forward = activation(l, role, defaults, type, x);
  if (c.directions == 1) return forward;
  const std::string backward = activation(l, roles + role, defaults, type, x);
  return forward == backward ? forward : fmt::format("(d_ == 0 ? {} : {})", forward, backward);
}

void rnn(Lowering& l) {
  const Cell c = cell_of(l, 1);
  const std::string unit =
      "        next_ = " + directed(l, c, 0, 1, {"Tanh"}, "clipped_(x_[j_] + product_(0, h_))") + ";\n";
  run_steps(l, c, unit, {}, {}, {});
}

// Gates z (update), r (reset), h (candidate).
void gru(Lowering& l) {
  const Cell c = cell_of(l, 3);
  const std::vector<std::string> defaults = {"Sigmoid", "Tanh"};
  const bool linear = l.node().int_attr("linear_before_reset", 0) != 0;
  std::string unit =
      "        const %T% z_ = " + directed(l, c, 0, 2, defaults, "clipped_(x_[j_] + product_(0, h_))") +
      ";\n";
  std::vector<std::string> also;
  std::map<std::string, std::string> holes;
  std::string before, from_state;
  if (linear) {
    unit += "        const %T% reset_ = " +
            directed(l, c, 0, 2, defaults, "clipped_(x_[%H% + j_] + product_(1, h_))") + ";\n";
    from_state = "reset_ * product_(2, h_)";
  } else {
    const std::string reset = l.new_tensor("reset_state", c.x.dtype, {c.batch, c.hidden});
    also.push_back(reset);
    holes["RESET"] = reset;
    before = filled(kResets, {{"ACT_RESET", directed(l, c, 0, 2, defaults, "clipped_(sum_)")}});
    from_state = "product_(2, {%RESET%} + b_ * %H%)";
  }
  unit += "        const %T% candidate_ = " +
          directed(l, c, 1, 2, defaults, "clipped_(x_[2 * %H% + j_] + " + from_state + ")") +
          ";\n        next_ = (1 - z_) * candidate_ + z_ * h_[j_];\n";
  run_steps(l, c, unit, holes, {}, also, before);
}

// Gates i (input), o (output), f (forget), c (cell); peepholes for i, o and f.
void lstm(Lowering& l) {
  const Cell c = cell_of(l, 4);
  const std::vector<std::string> defaults = {"Sigmoid", "Tanh", "Tanh"};
  const Value cell = initial_state(l, c, 6, "cell");
  const bool coupled = l.node().int_attr("input_forget", 0) != 0;
  std::vector<std::string> also_reads = {cell.tensor};  // starts from what is there
  std::string peep;
  if (l.has(7)) {
    const Value stored_peep = stored(l, l.input(7), "peepholes");
    also_reads.push_back(stored_peep.tensor);
    peep = "{" + stored_peep.tensor + "}";
  }
  auto gate = [&](int which, int hole) {
    std::string sum = fmt::format("x_[{0} * %H% + j_] + product_({0}, h_)", which);
    if (!peep.empty() && hole >= 0) sum += fmt::format(" + {}[(d_ * 3 + {}) * %H% + j_] * cell_", peep, hole);
    return "clipped_(" + sum + ")";
  };
  auto f = [&](const std::string& x) { return directed(l, c, 0, 3, defaults, x); };
  std::string unit = "        %T%& cell_ = {%CELL%}[d_ * %B% * %H% + unit_];\n";
  unit += "        const %T% in_ = " + f(gate(0, 0)) + ";\n";
  unit += "        const %T% forget_ = " + (coupled ? std::string("1 - in_") : f(gate(2, 2))) + ";\n";
  unit += "        cell_ = forget_ * cell_ + in_ * " + directed(l, c, 1, 3, defaults, gate(3, -1)) + ";\n";
  unit += "        next_ = " + f(gate(1, 1)) + " * " + directed(l, c, 2, 3, defaults, "cell_") + ";\n";
  run_steps(l, c, unit, {{"CELL", cell.tensor}}, also_reads, {cell.tensor});
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

#include "smith/graph/lowering.h"

#include <algorithm>
#include <cmath>

#include "smith/graph/epilogues.h"
#include "smith/graph/names.h"

namespace kforge::smith {
namespace {

bool is_identifier_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

std::int64_t normal_axis(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r)
    throw Unsupported{fmt::format("axis {} of a tensor with {} dimensions", axis, rank)};
  return axis < 0 ? axis + r : axis;
}

Position broadcast(const Position& position, const Shape& operand) {
  Position result;
  const std::size_t skip = position.size() - operand.size();
  for (std::size_t d = 0; d < operand.size(); ++d)
    result.push_back(operand[d] == 1 ? integer(0) : position[skip + d]);
  return result;
}

Position probe_position(const Shape& shape) {
  Position position;
  for (const std::int64_t extent : shape)
    position.push_back(variable(fmt::format("d{}", position.size()), extent));
  return position;
}

bool only_moves(const Value& value) {
  const Expr element = value.at(probe_position(value.shape));
  if (element->op != Op::kLoad) return false;
  const Expr place = flat_position(element->coefs, element->args);
  bool plain = is_position(place);
  visit(place, [&](const ExprNode& node) { plain &= node.op != Op::kDigit; });
  return plain;
}

bool reads_across(const Value& value) {
  constexpr std::int64_t kLine = 16;
  if (value.shape.empty() || value.shape.back() < kLine) return false;
  const Position position = probe_position(value.shape);
  bool across = false;
  visit(value.at(position), [&](const ExprNode& node) {
    if (node.op != Op::kLoad) return;
    bool linear = true;
    const auto step = coefficient(flat_position(node.coefs, node.args), position.back()->name, &linear);
    across |= linear && std::abs(step) >= kLine;
  });
  return across;
}

Lowering::Lowering(const Problem& problem) : problem_(problem) {}

std::string Lowering::unique_name(const std::string& hint) {
  std::string name;
  for (char c : hint) name += is_identifier_char(c) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "t" + name;
  if (is_taken_name(name)) name = free_name(name);
  std::string candidate = name;
  for (int i = 2; !names_.insert(candidate).second; ++i) candidate = fmt::format("{}_{}", name, i);
  return candidate;
}

Value Lowering::tensor_value(const std::string& tensor, const Shape& view) const {
  const TensorInfo& info = program_.tensor(tensor);
  Value value{info.dtype, view, {}, tensor, 1};
  value.at = [tensor, dtype = info.dtype, view](const Position& position) {
    return load(tensor, dtype, view, position);
  };
  return value;
}

void Lowering::add_arguments() {
  using Where = TensorInfo::Where;
  for (const Argument& argument : problem_.arguments)
    if (element_count(argument.shape) == 0)
      throw Unsupported{fmt::format("'{}' has no elements", argument.name)};
  for (const Argument& argument : problem_.arguments) {
    if (argument.role == ArgumentRole::kOutput) continue;
    const Where where = argument.role == ArgumentRole::kParam   ? Where::kParam
                        : argument.role == ArgumentRole::kInout ? Where::kInout
                                                                : Where::kInput;
    const std::string name = unique_name(argument.c_name);
    program_.tensors[name] = {name, argument.dtype, argument.shape, where, argument.c_name, nullptr};
    values_[argument.name] = tensor_value(name, argument.shape);
  }
  for (const Argument& argument : problem_.arguments)
    if (argument.role == ArgumentRole::kOutput) {
      const std::string name = unique_name(argument.c_name);
      program_.tensors[name] = {name,           argument.dtype,  argument.shape,
                                Where::kOutput, argument.c_name, nullptr};
    }
}

Value constant_value(Lowering& lowering, const std::string& name, const ConstantTensor& tensor) {
  if (tensor.dtype == DType::kString) throw Unsupported{"text as data"};
  const Type type = type_for(tensor.dtype);
  Value value{tensor.dtype, tensor.shape, {}, {}, 0};
  auto element = [=](double d, std::int64_t i) {
    return type == Type::kInt ? integer(i) : type == Type::kBool ? number(i != 0, type) : number(d, type);
  };
  const auto doubles = tensor.as_double();
  const auto ints = tensor.as_int64();
  const bool uniform = std::all_of(doubles.begin(), doubles.end(), [&](double d) { return d == doubles[0]; });
  if (!doubles.empty() && uniform) {
    value.at = [e = element(doubles[0], ints[0])](const Position&) { return e; };
    return value;
  }
  auto shared = std::make_shared<ConstantTensor>(tensor);
  const std::string stored = lowering.new_tensor(name, tensor.dtype, tensor.shape);
  lowering.program().tensors[stored].where = TensorInfo::Where::kConstant;
  lowering.program().tensors[stored].constant = shared;
  return lowering.tensor_value(stored, tensor.shape);
}

void Lowering::add_constants() {
  for (const Initializer& initializer : problem_.graph.initializers) {
    if (values_.contains(initializer.name)) continue;  // an argument
    constants_[initializer.name] = &initializer.tensor;
    if (initializer.tensor.dtype != DType::kString)
      values_[initializer.name] = constant_value(*this, initializer.name, initializer.tensor);
  }
}

const Value& Lowering::input(std::size_t i) const {
  if (!has(i)) throw Unsupported{fmt::format("input {} is missing", i)};
  const auto found = values_.find(node_->inputs[i]);
  if (found == values_.end()) throw Unsupported{fmt::format("input '{}' is not known", node_->inputs[i])};
  return found->second;
}

std::optional<std::vector<std::int64_t>> Lowering::constant_ints(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  const auto found = constants_.find(node_->inputs[i]);
  if (found == constants_.end())
    throw Unsupported{fmt::format("input '{}' is only known at run time", node_->inputs[i])};
  return found->second->as_int64();
}
std::optional<std::vector<double>> Lowering::constant_doubles(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  const auto found = constants_.find(node_->inputs[i]);
  if (found == constants_.end())
    throw Unsupported{fmt::format("input '{}' is only known at run time", node_->inputs[i])};
  return found->second->as_double();
}

const TensorType& Lowering::type_of(const std::string& value) const {
  for (std::size_t i = bodies_.size(); i-- > 0;)
    if (const auto found = bodies_[i]->types.find(value);
        found != bodies_[i]->types.end() && found->second.concrete())
      return found->second;
  const auto found = problem_.graph.types.find(value);
  if (found == problem_.graph.types.end() || !found->second.concrete())
    throw Unsupported{fmt::format("the shape of '{}' depends on data", value)};
  return found->second;
}

const Shape& Lowering::output_shape(std::size_t i) const {
  static thread_local Shape shape;
  shape = type_of(node_->outputs[i]).shape();
  if (element_count(shape) == 0) throw Unsupported{fmt::format("'{}' has no elements", node_->outputs[i])};
  return shape;
}
DType Lowering::output_dtype(std::size_t i) const { return type_of(node_->outputs[i]).dtype; }

void Lowering::define(std::size_t output, Value value) {
  if (wants(output)) values_[node_->outputs[output]] = std::move(value);
}
void Lowering::define_map(std::function<Expr(const Position&)> at, double cost, std::size_t output) {
  define(output, Value{output_dtype(output), output_shape(output), std::move(at), {}, cost});
}

Expr Lowering::fresh_variable(std::int64_t extent, const std::string& hint) {
  return variable(unique_name(hint), extent);
}
std::vector<Expr> Lowering::fresh_variables(const Shape& shape, const std::string& hint) {
  std::vector<Expr> variables;
  for (std::int64_t extent : shape) variables.push_back(fresh_variable(extent, hint));
  return variables;
}

std::string Lowering::new_tensor(const std::string& hint, DType dtype, const Shape& shape) {
  const std::string name = unique_name(hint);
  // Temporaries of narrow floating types hold float: the graph does not ask for a rounding between operators.
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) dtype = DType::kFloat32;
  program_.tensors[name] = {name, dtype, shape, TensorInfo::Where::kTemporary, {}, nullptr};
  return name;
}

Value Lowering::materialize(const Value& value, const std::string& hint) {
  const std::string name = new_tensor(hint, value.dtype, value.shape);
  Stage stage{.tensor = name, .view = value.shape, .dims = fresh_variables(value.shape)};
  stage.body = value.at(stage.dims);
  stage.label = node_ ? node_->name : "";
  program_.stages.push_back(std::move(stage));
  return tensor_value(name, value.shape);
}

Value Lowering::reread(const Value& value, int times, const std::string& hint) {
  return value.tensor.empty() && value.cost * (times - 1) > kWorthStoring ? materialize(value, hint) : value;
}

Value Lowering::plain(const Value& value, const std::string& hint) {
  return value.tensor.empty() ? materialize(value, hint) : value;
}

Value Lowering::reduce(Combine combine, DType dtype, const Shape& kept, const Shape& reduced,
                       const std::function<Expr(const Position&, const Position&)>& body,
                       const std::string& hint) {
  const std::string name = new_tensor(hint, dtype, kept);
  Stage stage{.tensor = name, .view = kept, .dims = fresh_variables(kept), .combine = combine};
  stage.reduced = fresh_variables(reduced, "r");
  stage.body = body(stage.dims, stage.reduced);
  stage.label = node_ ? node_->name : "";
  program_.stages.push_back(std::move(stage));
  return tensor_value(name, kept);
}

Value Lowering::running(Combine combine, const Value& x, int axis, bool exclusive, bool reverse) {
  const std::string name = new_tensor(node_->outputs[0], x.dtype, x.shape);
  Stage stage{.tensor = name, .view = x.shape, .dims = fresh_variables(x.shape), .combine = combine};
  stage.body = x.at(stage.dims);
  stage.scan_axis = axis;
  stage.exclusive = exclusive;
  stage.reverse = reverse;
  stage.label = node_->name;
  program_.stages.push_back(std::move(stage));
  return tensor_value(name, x.shape);
}

void Lowering::add_native_code(NativeCode code, const std::string& label) {
  Stage stage{.tensor = code.writes.empty() ? label : code.writes[0]};
  stage.native = std::make_shared<const NativeCode>(std::move(code));
  stage.label = label;
  program_.stages.push_back(std::move(stage));
}

void Lowering::lower_node(const Node& node) {
  node_ = &node;
  const Lower fn = find_lowering(node);
  if (!fn) throw Unsupported{"there is no loop form of it yet"};
  const std::size_t first_stage = program_.stages.size();
  fn(*this);
  store_behind_products(first_stage);
  for (const std::string& output : node.outputs) {
    const auto found = values_.find(output);
    if (found == values_.end()) continue;
    Value& value = found->second;
    if (element_count(value.shape) == 1 && value.tensor.empty() &&
        value.at(probe_position(value.shape))->op == Op::kNumber)
      value.cost = 0;  // known already
    if (uses_[output] <= 1) continue;
    // Moves alone stay what they are: a product packs its operands anyway.
    if (value.tensor.empty() && reads_across(value) && !only_moves(value))
      value = materialize(value, output);
    else
      value = reread(value, uses_[output], output);
  }
}

void Lowering::store_behind_products(std::size_t first_stage) {
  if (!bodies_.empty()) return;
  for (std::size_t i = first_stage; i < program_.stages.size(); ++i)
    if (program_.stages[i].node) sums_.insert(program_.stages[i].tensor);
  for (const std::string& output : node_->outputs) {
    const auto found = values_.find(output);
    if (found == values_.end()) continue;
    Value& value = found->second;
    if (value.tensor.empty() && is_float(value.dtype) && is_epilogue_of(value, sums_)) {
      value = materialize(value, output);
      program_.stages.back().loose = true;
      sums_.insert(value.tensor);
    }
    if (uses_[output] > 1) sums_.erase(value.tensor);
  }
}

namespace {

void rename_tensors(Program& program, const std::map<std::string, std::string>& names) {
  auto name = [&](std::string& tensor) {
    if (const auto found = names.find(tensor); found != names.end()) tensor = found->second;
  };
  for (Stage& stage : program.stages) {
    name(stage.tensor);
    if (stage.body)
      stage.body = rewrite(stage.body, [&](const Expr& e) -> Expr {
        if (e->op != Op::kLoad || !names.contains(e->name)) return nullptr;
        return load(names.at(e->name), e->dtype, e->coefs, e->args);
      });
    if (!stage.native) continue;
    NativeCode code = *stage.native;
    for (auto* list : {&code.reads, &code.writes})
      for (std::string& tensor : *list) name(tensor);
    for (const auto& [from, to] : names) {
      const std::string mark = "{" + from + "}", with = "{" + to + "}";
      for (std::size_t at = 0; (at = code.lines.find(mark, at)) != std::string::npos; at += with.size())
        code.lines.replace(at, mark.size(), with);
    }
    stage.native = std::make_shared<const NativeCode>(std::move(code));
  }
  for (const auto& [from, to] : names) program.tensors.erase(from);
}

}  // namespace

// A graph output that one stage computes is written there directly; everything else is stored now.
void Lowering::store_outputs() {
  std::set<std::string> taken;
  std::map<std::string, std::string> renamed;
  for (const Argument& argument : problem_.arguments) {
    const bool inout = argument.role == ArgumentRole::kInout;
    if (argument.role != ArgumentRole::kOutput && !inout) continue;
    const std::string& graph_name = inout ? argument.output : argument.name;
    const auto found = values_.find(graph_name);
    if (found == values_.end()) throw Unsupported{fmt::format("output '{}' is not computed", graph_name)};
    std::string target;
    for (const auto& [name, info] : program_.tensors)
      if (info.c_name == argument.c_name) target = name;
    const Value value = found->second;
    const auto source = program_.tensors.find(value.tensor);
    const bool own = source != program_.tensors.end() &&
                     source->second.where == TensorInfo::Where::kTemporary &&
                     source->second.dtype == argument.dtype && !inout && !taken.contains(value.tensor);
    if (own) {  // the temporary is the output under another name
      taken.insert(value.tensor);
      renamed[value.tensor] = target;
      continue;
    }
    Stage stage{.tensor = target, .view = argument.shape, .dims = fresh_variables(argument.shape)};
    stage.body = value.at(stage.dims);
    stage.label = "output " + graph_name;
    program_.stages.push_back(std::move(stage));
  }
  rename_tensors(program_, renamed);
}

Program Lowering::run() {
  add_arguments();
  add_constants();
  for (const Node& node : problem_.graph.nodes)
    for (const std::string& input : node.inputs) ++uses_[input];
  for (const auto& output : problem_.graph.outputs) ++uses_[output.name];
  for (const Node& node : problem_.graph.nodes) {
    try {
      lower_node(node);
    } catch (Unsupported& unsupported) {
      unsupported.why = fmt::format("operator {} ('{}'): {}", node.op, node.name, unsupported.why);
      throw;
    }
  }
  node_ = nullptr;
  store_outputs();
  join_loose_stages(program_);
  return std::move(program_);
}

namespace {

TensorType concrete_type(const Value& value) {
  TensorType type{.dtype = value.dtype};
  for (const std::int64_t extent : value.shape) type.dims.push_back({extent, ""});
  return type;
}

}  // namespace

// The body becomes a graph of its own first (what it sees of the graphs around it are inputs), so that every
// shape in it is known for the shapes it is given here.
std::vector<Value> Lowering::run_body(const Graph& body, const std::vector<Value>& inputs) {
  if (inputs.size() != body.inputs.size()) throw Unsupported{"with a body that does not fit"};
  Graph own = body;
  own.inputs.clear();
  own.types.clear();
  std::set<std::string> known;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    own.inputs.push_back({body.inputs[i].name, concrete_type(inputs[i]), true});
    known.insert(body.inputs[i].name);
  }
  for (const Initializer& initializer : body.initializers) known.insert(initializer.name);
  auto see = [&](const std::string& name) {
    if (name.empty() || !known.insert(name).second) return;
    if (const auto constant = constants_.find(name); constant != constants_.end())
      own.initializers.push_back({name, *constant->second, true});
    else if (const auto value = values_.find(name); value != values_.end())
      own.inputs.push_back({name, concrete_type(value->second), true});
  };
  for (const Node& node : body.nodes) {
    for (const std::string& input : node.inputs) see(input);
    for (const std::string& output : node.outputs) known.insert(output);
  }
  for (const auto& output : body.outputs) see(output.name);
  for (auto& output : own.outputs) output.typed = false;
  auto bound = bind_dims(own, {});
  if (!bound) throw Unsupported{"whose body has no shapes: " + bound.error().message};
  auto graph = std::make_shared<const Graph>(std::move(*bound));
  kept_.push_back(graph);
  bodies_.push_back(graph);
  const Node* const around = node_;
  const auto uses_before = uses_;
  const std::size_t first_stage = program_.stages.size();
  for (std::size_t i = 0; i < inputs.size(); ++i) values_[body.inputs[i].name] = inputs[i];
  // Turns of a loop share the tables of its constants.
  const auto constants_before = constants_;
  for (const Initializer& initializer : graph->initializers) {
    const std::string& name = initializer.name;
    if (constants_before.contains(name)) continue;  // seen from outside
    BodyConstant& made = body_constants_[{&body, name}];
    if (!made.tensor || made.tensor->data != initializer.tensor.data ||
        made.tensor->shape != initializer.tensor.shape || made.tensor->dtype != initializer.tensor.dtype)
      made = {&initializer.tensor, constant_value(*this, name, initializer.tensor)};
    constants_[name] = &initializer.tensor;
    values_[name] = made.value;
  }
  for (const Node& node : graph->nodes)
    for (const std::string& input : node.inputs) ++uses_[input];
  for (const Node& node : graph->nodes) lower_node(node);
  std::vector<Value> results;
  for (const auto& output : body.outputs) {
    const auto found = values_.find(output.name);
    if (found == values_.end()) throw Unsupported{fmt::format("'{}' is not computed", output.name)};
    results.push_back(found->second);
  }
  bodies_.pop_back();
  node_ = around;
  uses_ = uses_before;
  constants_ = constants_before;
  // The nodes of the body end with this lowering.
  for (std::size_t i = first_stage; i < program_.stages.size(); ++i) program_.stages[i].node = nullptr;
  return results;
}

Lower find_lowering(const Node& node) {
  static constexpr std::string_view kDomains[] = {"", "ai.onnx", "kforge", "ai.onnx.preview.training"};
  if (std::find(std::begin(kDomains), std::end(kDomains), node.domain) == std::end(kDomains)) return nullptr;
  for (const LowerTable* table :
       {&elementwise_table(), &movement_table(), &reduction_table(), &softmax_table(), &norm_table(),
        &window_table(), &contraction_table(), &choice_table(), &recurrent_table(), &control_table(),
        &optimizer_table(), &quantized_table(), &resize_table(), &sample_table(), &signal_table()})
    if (const auto found = table->find(node.op); found != table->end()) return found->second;
  return nullptr;
}

Result<Program> lower(const Problem& problem) {
  try {
    return Lowering(problem).run();
  } catch (const Unsupported& unsupported) {
    return fail_with_remedy("a language model can write this kernel: choose one with --generator",
                            fmt::format("the smith cannot write {}: {}", problem.name, unsupported.why));
  }
}

}  // namespace kforge::smith

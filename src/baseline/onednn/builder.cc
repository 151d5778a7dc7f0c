#include "baseline/onednn/builder.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

namespace kforge::onednn {
namespace {

DType held_form_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return DType::kFloat32;
    case DType::kFloat64:
      throw Unsupported("float64 tensors are not implemented");
    case DType::kString:
      throw Unsupported("string tensors are not implemented");
    default:
      return dtype;
  }
}

bool is_reshape(const std::string& op) {
  static constexpr std::array kOps = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout"};
  return std::ranges::find(kOps, op) != kOps.end();
}

// Operators whose output element depends on the input elements of the same place only, or that keep most of
// their input: they may overwrite it.
bool is_elementwise(const std::string& op) {
  static const std::set<std::string> kOps = {"Add",   "Sub", "Mul", "Div",  "Relu",      "Sqrt",
                                             "Where", "Max", "Min", "Neg",  "Abs",       "Sigmoid",
                                             "Tanh",  "Exp", "Pow", "Clip", "ScatterND", "ScatterElements"};
  return kOps.contains(op);
}

}  // namespace

bool is_narrow(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

bool is_channel_operand(const Shape& operand, const Shape& whole) {
  if (operand.size() > whole.size()) return false;
  for (std::size_t d = 0; d < operand.size(); ++d) {
    std::size_t axis = whole.size() - operand.size() + d;
    if (operand[d] != 1 && (axis != 1 || operand[d] != whole[1])) return false;
  }
  return true;
}

void Builder::build() {
  add_arguments();
  add_constants();
  count_uses();
  find_targets();
  for (node_ = 0; node_ < graph().nodes.size(); ++node_) {
    const Node& node = graph().nodes[node_];
    Emit emit = find_operator(node.op);
    if (!emit) throw Unsupported("operator " + node.op + " has no implementation");
    preparing_ = std::ranges::all_of(
        node.inputs, [&](const std::string& name) { return name.empty() || fixed(values_.at(name)); });
    try {
      current_ = &node;
      emit(*this, node);
    } catch (const Unsupported& why) {
      throw Unsupported(node.op + " (" + node.name + "): " + why.what());
    }
  }
  preparing_ = false;
  current_ = nullptr;
  finish_outputs();
  release_probe_memory();
}

int Builder::add_buffer(Buffer buffer) {
  plan_.buffers_.push_back(buffer);
  return static_cast<int>(plan_.buffers_.size()) - 1;
}

void Builder::add_arguments() {
  for (std::size_t a = 0; a < task_.arguments.size(); ++a) {
    const BoundArgument& argument = task_.arguments[a];
    (void)held_form_of(argument.dtype);  // throws for types nobody here knows
    Buffer buffer{Buffer::Kind::kArgument, argument.bytes(), a, argument.role == Role::kParam, nullptr};
    Tensor stored{add_buffer(buffer), argument.dtype, argument.shape, dense_strides(argument.shape), 0, {}};
    if (argument.role == Role::kOutput) {
      targets_[argument.name] = stored;
      continue;
    }
    values_[argument.name] = stored;
    if (argument.role == Role::kInout && inout_is_safe(argument)) targets_[argument.output] = stored;
  }
}

// Once per tensor, in prepare() for params.
Tensor Builder::widened(const std::string& name, const Tensor& stored) {
  auto found = widened_.find(name);
  if (found != widened_.end()) return found->second;
  Tensor wide = once_if_fixed(stored, [&] {
    Tensor from = dense(stored), to = temporary(DType::kFloat32, stored.shape);
    if (from.buffer == stored.buffer) stored_[to.buffer] = stored;
    convert("widen " + std::string(name_of(stored.dtype)), from, to);
    return to;
  });
  return widened_[name] = wide;
}

const Tensor* Builder::stored_form(const Tensor& wide) const {
  auto found = stored_.find(wide.buffer);
  return found == stored_.end() ? nullptr : &found->second;
}

void Builder::add_constants() {
  for (const Initializer& initializer : graph().initializers) {
    if (values_.contains(initializer.name)) continue;
    const ConstantTensor& tensor = initializer.tensor;
    if (tensor.dtype == DType::kString)
      continue;  // only an attribute-like use could want it; it then fails there
    Buffer buffer{Buffer::Kind::kConstant, tensor.data.size(), 0, true, &tensor};
    Tensor stored{add_buffer(buffer), tensor.dtype, tensor.shape, dense_strides(tensor.shape), 0, {}};
    values_[initializer.name] = stored;
  }
}

void Builder::count_uses() {
  for (std::size_t n = 0; n < graph().nodes.size(); ++n)
    for (const std::string& name : graph().nodes[n].inputs)
      if (!name.empty()) last_use_[name] = n;
}

// A value that only a reshape separates from a graph output is computed in the output's memory at once.
void Builder::find_targets() {
  for (std::size_t n = graph().nodes.size(); n-- > 0;) {
    const Node& node = graph().nodes[n];
    if (!is_reshape(node.op) || node.outputs.empty() || node.inputs.empty()) continue;
    auto target = targets_.find(node.outputs[0]);
    if (target == targets_.end() || targets_.contains(node.inputs[0]) || values_.contains(node.inputs[0]))
      continue;
    auto type = graph().types.find(node.inputs[0]);
    if (type == graph().types.end() || !type->second.concrete()) continue;
    Tensor early = target->second;
    early.shape = type->second.shape();
    early.strides = dense_strides(early.shape);
    targets_[node.inputs[0]] = early;
  }
}

// The new value may be written while the node that makes it runs when nobody reads the old one later.
bool Builder::inout_is_safe(const BoundArgument& argument) const {
  std::size_t producer = graph().nodes.size(), last_read = 0;
  for (std::size_t n = 0; n < graph().nodes.size(); ++n) {
    const Node& node = graph().nodes[n];
    if (std::ranges::find(node.outputs, argument.output) != node.outputs.end()) producer = n;
    if (std::ranges::find(node.inputs, argument.name) == node.inputs.end()) continue;
    last_read = n;
    static const std::set<std::string> kViews = {"Transpose", "Slice", "Split", "Expand"};
    if (is_reshape(node.op) || kViews.contains(node.op))
      return false;  // somebody may read through the view later
  }
  if (producer >= graph().nodes.size()) return false;
  return last_read < producer || (last_read == producer && is_elementwise(graph().nodes[producer].op));
}

void Builder::finish_outputs() {
  for (const BoundArgument& argument : task_.arguments) {
    if (argument.role != Role::kOutput && argument.role != Role::kInout) continue;
    const std::string& name = argument.role == Role::kInout ? argument.output : argument.name;
    auto value = values_.find(name);
    if (value == values_.end()) throw Unsupported("output " + name + " is not computed");
    std::size_t a = static_cast<std::size_t>(&argument - task_.arguments.data());
    auto buffer = std::ranges::find_if(plan_.buffers_, [&](const Buffer& b) {
      return b.kind == Buffer::Kind::kArgument && b.argument == a;
    });
    int index = static_cast<int>(buffer - plan_.buffers_.begin());
    Tensor end{index, argument.dtype, argument.shape, dense_strides(argument.shape), 0, {}};
    const Tensor& have = value->second;
    if (have.buffer == end.buffer && have.dense() && have.offset == 0) continue;
    if (have.dtype == end.dtype) {
      if (have.blocked)
        reorder(have, end);
      else
        copy(have, end);
      continue;
    }
    convert("narrow to " + std::string(name_of(end.dtype)), dense(have), end);
  }
}

const Tensor& Builder::raw_input(const Node& node, std::size_t i) const {
  if (!has_input(node, i)) throw Unsupported("an input is missing");
  return values_.at(node.inputs[i]);
}

Tensor Builder::input(const Node& node, std::size_t i) {
  const Tensor& raw = raw_input(node, i);
  return is_narrow(raw.dtype) ? widened(node.inputs[i], raw) : raw;
}

const ConstantTensor* Builder::constant_input(const Node& node, std::size_t i) const {
  if (!has_input(node, i)) return nullptr;
  const Initializer* initializer = graph().find_initializer(node.inputs[i]);
  if (!initializer) return nullptr;
  // An initializer that is an argument gets its values from the parent.
  bool argument =
      std::ranges::any_of(task_.arguments, [&](const BoundArgument& a) { return a.name == node.inputs[i]; });
  return argument ? nullptr : &initializer->tensor;
}

std::vector<std::int64_t> Builder::constant_ints(const Node& node, std::size_t i) const {
  const ConstantTensor* constant = constant_input(node, i);
  if (!constant) throw Unsupported("input " + std::to_string(i) + " must be a constant");
  return constant->as_int64();
}

double Builder::constant_scalar(const Node& node, std::size_t i, double otherwise) const {
  if (!has_input(node, i)) return otherwise;
  const ConstantTensor* constant = constant_input(node, i);
  if (!constant || element_count(constant->shape) != 1)
    throw Unsupported("input " + std::to_string(i) + " must be a constant scalar");
  return constant->as_double()[0];
}

Shape Builder::shape_of(const std::string& value) const {
  auto type = graph().types.find(value);
  if (type == graph().types.end() || !type->second.concrete())
    throw Unsupported("the shape of " + value + " is not known");
  return type->second.shape();
}

DType Builder::held_dtype_of(const std::string& value) const {
  return held_form_of(graph().types.at(value).dtype);
}

bool Builder::is_graph_output(const std::string& value) const {
  return std::ranges::any_of(graph().outputs, [&](const Value& output) { return output.name == value; });
}

Tensor Builder::output(const Node& node, std::size_t i) {
  return output_as(node, i, held_dtype_of(node.outputs[i]));
}

bool Builder::ends_narrow(const Node& node, std::size_t i) const {
  auto target = targets_.find(node.outputs[i]);
  return !preparing_ && target != targets_.end() && is_narrow(target->second.dtype);
}

Tensor Builder::typed_output(const Node& node, std::size_t i) {
  return ends_narrow(node, i) ? output_as(node, i, targets_.at(node.outputs[i]).dtype) : output(node, i);
}

Tensor Builder::output_as(const Node& node, std::size_t i, DType held) {
  const std::string& name = node.outputs[i];
  Shape shape = shape_of(name);
  auto target = targets_.find(name);
  Tensor tensor = !preparing_ && target != targets_.end() && target->second.dtype == held
                      ? target->second
                      : temporary(held, shape);
  values_[name] = tensor;
  return tensor;
}

bool Builder::dies_here(const Tensor& tensor, const Node& node) const {
  for (const auto& [name, value] : values_) {
    if (value.buffer != tensor.buffer) continue;
    auto last = last_use_.find(name);
    if (last != last_use_.end() && last->second > node_) return false;
    if (is_graph_output(name) && std::ranges::find(node.outputs, name) == node.outputs.end()) return false;
  }
  return true;
}

Tensor Builder::output_over(const Node& node, std::size_t i, const Tensor& reuse) {
  const std::string& name = node.outputs[i];
  const Buffer& buffer = plan_.buffers_[static_cast<std::size_t>(reuse.buffer)];
  bool right_kind = buffer.kind == (preparing_ ? Buffer::Kind::kPrepared : Buffer::Kind::kTemporary);
  if (right_kind && !targets_.contains(name) && reuse.dense() && reuse.dtype == held_dtype_of(name) &&
      reuse.shape == shape_of(name) && !stored_.contains(reuse.buffer) && dies_here(reuse, node)) {
    values_[name] = reuse;
    return reuse;
  }
  return output(node, i);
}

void Builder::set_output(const Node& node, std::size_t i, Tensor tensor) {
  values_[node.outputs[i]] = std::move(tensor);
}

bool Builder::may_stay_blocked(const Node& node, std::size_t i) const {
  const std::string& name = node.outputs[i];
  if (is_graph_output(name)) return false;
  return std::ranges::all_of(graph().nodes, [&](const Node& consumer) {
    return std::ranges::find(consumer.inputs, name) == consumer.inputs.end() || takes_blocked(consumer, name);
  });
}

bool Builder::takes_blocked(const Node& consumer, const std::string& value) const {
  static const std::set<std::string> kAlways = {
      "Conv",      "ConvTranspose", "Relu",     "LeakyRelu", "Sigmoid", "Tanh",        "Elu", "Gelu", "Mish",
      "HardSwish", "Swish",         "Softplus", "Clip",      "MaxPool", "AveragePool", "Abs", "Sqrt", "Exp"};
  static const std::set<std::string> kWithChannelOperand = {"Add", "Sub", "Mul", "Div"};
  if (kAlways.contains(consumer.op)) return true;
  if (!kWithChannelOperand.contains(consumer.op) || consumer.inputs[0] != value ||
      consumer.inputs[1] == value)
    return false;
  return is_channel_operand(shape_of(consumer.inputs[1]), shape_of(value));
}

Tensor Builder::temporary(DType dtype, const Shape& shape) {
  Buffer buffer;
  buffer.kind = preparing_ ? Buffer::Kind::kPrepared : Buffer::Kind::kTemporary;
  buffer.fixed = preparing_;
  buffer.bytes = static_cast<std::size_t>(element_count(shape)) * size_of(dtype);
  return {add_buffer(buffer), dtype, shape, dense_strides(shape), 0, {}};
}

Tensor Builder::temporary(const dnnl::memory::desc& layout, const Shape& shape) {
  Tensor tensor = temporary(DType::kFloat32, shape);
  plan_.buffers_[static_cast<std::size_t>(tensor.buffer)].bytes = layout.get_size();
  if (layout != describe_dense(shape)) tensor.blocked = layout;
  return tensor;
}

Tensor Builder::prepared(const dnnl::memory::desc& layout, const Shape& shape) {
  bool before = std::exchange(preparing_, true);
  Tensor tensor = temporary(layout, shape);
  preparing_ = before;
  return tensor;
}

void Builder::step(std::string what, const std::vector<Tensor>& touches, Run run) {
  Step made{current_ ? current_->name + ": " + what : std::move(what), {}, std::move(run), "", ""};
  if (current_) made.node = current_->name, made.op = current_->op;
  for (const Tensor& tensor : touches) made.touches.push_back(tensor.buffer);
  (preparing_ ? plan_.prepare_steps_ : plan_.steps_).push_back(std::move(made));
}

void Builder::primitive(const std::string& what, const dnnl::primitive& primitive,
                        std::vector<Operand> operands) {
  struct Bound {
    dnnl::primitive primitive;
    std::vector<Tensor> tensors;
    std::vector<dnnl::memory> memories;
    std::unordered_map<int, dnnl::memory> arguments;
  };
  auto bound = std::make_shared<Bound>();
  bound->primitive = primitive;
  std::vector<Tensor> touches;
  for (Operand& operand : operands) {
    dnnl::memory memory(operand.layout, engine(), DNNL_MEMORY_NONE);
    bound->arguments.emplace(operand.role, memory);
    bound->memories.push_back(memory);
    touches.push_back(operand.tensor);
    bound->tensors.push_back(std::move(operand.tensor));
  }
  step(what, touches, [bound](const Pointers& p) {
    for (std::size_t i = 0; i < bound->memories.size(); ++i) {
      void* now = p.raw(bound->tensors[i]);
      // Setting a handle clears the padding of blocked layouts: only when it changed.
      if (bound->memories[i].get_data_handle() != now) bound->memories[i].set_data_handle(now);
    }
    bound->primitive.execute(stream(), bound->arguments);
    stream().wait();
  });
}

void Builder::convert(const std::string& what, const Tensor& from, const Tensor& to) {
  step(what, {from, to},
       [=, n = to.count(), from_type = number_of(from.dtype), to_type = number_of(to.dtype)](
           const Pointers& p) { loops::loops().convert(to_type, from_type, p.raw(from), p.raw(to), n); });
}

void Builder::copy(const Tensor& from, const Tensor& to) {
  loops::Walk walk = make_walk(to.shape, {&to, &from});
  int bytes = static_cast<int>(size_of(to.dtype));
  step("copy", {from, to},
       [=](const Pointers& p) { loops::loops().copy(bytes, walk, p.raw(to), p.raw(from)); });
}

void Builder::reorder(const Tensor& from, const Tensor& to) {
  dnnl::reorder::primitive_desc pd(engine(), describe(from), engine(), describe(to));
  primitive(std::string("reorder ") + pd.impl_info_str(), dnnl::reorder(pd),
            {{DNNL_ARG_FROM, describe(from), from}, {DNNL_ARG_TO, describe(to), to}});
}

Tensor Builder::plain(const Tensor& tensor) { return tensor.blocked ? dense(tensor) : tensor; }

Tensor Builder::dense(const Tensor& tensor) {
  if (tensor.dense()) return tensor;
  bool before = std::exchange(preparing_, preparing_ || fixed(tensor));
  Tensor made = temporary(tensor.dtype, tensor.shape);
  if (tensor.blocked)
    reorder(tensor, made);
  else
    copy(tensor, made);
  preparing_ = before;
  return made;
}

Tensor Builder::in_layout(const Tensor& tensor, const dnnl::memory::desc& layout) {
  if (describe(tensor) == layout) return tensor;
  bool before = std::exchange(preparing_, preparing_ || fixed(tensor));
  Tensor made = temporary(layout, tensor.shape);
  made.blocked = layout;
  reorder(tensor, made);
  preparing_ = before;
  return made;
}

}  // namespace kforge::onednn

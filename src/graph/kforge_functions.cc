#include "graph/kforge_functions.h"

#include <algorithm>
#include <charconv>
#include <span>

#include <fmt/args.h>
#include <onnx/defs/parser.h>

#include "graph/opaque.h"

namespace kforge {
namespace {

struct AttributeRow {
  std::string_view name;
  Attribute otherwise;  // its kind is the attribute's kind
  bool required = false;
};

struct OperatorRow {
  std::string_view op;
  std::vector<std::string_view> inputs;
  std::vector<AttributeRow> attributes;
  std::string_view body;     // {name} is replaced by the attribute's value
  std::string_view variant;  // body used when the flag attribute (approximate = "tanh", exclusive = 1) is set
};

// Constants are cast to the type of X, so that one body serves float, float16 and bfloat16.
constexpr std::string_view kGelu = R"(
  half_f = Constant <value = float {{0.5}}> ()
  one_f = Constant <value = float {{1.0}}> ()
  scale_f = Constant <value = float {{0.70710678118654752}}> ()
  half = CastLike(half_f, X)
  one = CastLike(one_f, X)
  scale = CastLike(scale_f, X)
  scaled = Mul(X, scale)
  e = Erf(scaled)
  sum = Add(e, one)
  product = Mul(X, sum)
  Y = Mul(product, half)
)";
constexpr std::string_view kGeluTanh = R"(
  half_f = Constant <value = float {{0.5}}> ()
  one_f = Constant <value = float {{1.0}}> ()
  cubic_f = Constant <value = float {{0.044715}}> ()
  scale_f = Constant <value = float {{0.79788456080286536}}> ()
  half = CastLike(half_f, X)
  one = CastLike(one_f, X)
  cubic = CastLike(cubic_f, X)
  scale = CastLike(scale_f, X)
  square = Mul(X, X)
  cube = Mul(square, X)
  term = Mul(cube, cubic)
  inner = Add(X, term)
  scaled = Mul(inner, scale)
  t = Tanh(scaled)
  sum = Add(t, one)
  product = Mul(X, sum)
  Y = Mul(product, half)
)";
constexpr std::string_view kMish = R"(
  s = Softplus(X)
  t = Tanh(s)
  Y = Mul(X, t)
)";
constexpr std::string_view kSwish = R"(
  alpha_f = Constant <value = float {{{alpha}}}> ()
  alpha = CastLike(alpha_f, X)
  scaled = Mul(X, alpha)
  s = Sigmoid(scaled)
  Y = Mul(X, s)
)";
// Scale and bias broadcast over [N, C, rest], whatever the rank of X.
constexpr std::string_view kGroupNormalization = R"(
  epsilon_f = Constant <value = float {{{epsilon}}}> ()
  epsilon = CastLike(epsilon_f, X)
  groups = Constant <value_ints = [0, {num_groups}, -1]> ()
  x3 = Reshape(X, groups)
  mean = ReduceMean <axes = [2]> (x3)
  centred = Sub(x3, mean)
  square = Mul(centred, centred)
  variance = ReduceMean <axes = [2]> (square)
  padded = Add(variance, epsilon)
  deviation = Sqrt(padded)
  normal3 = Div(centred, deviation)
  keep = Constant <value_ints = [0]> ()
  rest = Constant <value_ints = [-1]> ()
  channels = Shape(scale)
  by_channel = Concat <axis = 0> (keep, channels, rest)
  normal = Reshape(normal3, by_channel)
  last = Constant <value_ints = [1]> ()
  scale2 = Unsqueeze(scale, last)
  bias2 = Unsqueeze(bias, last)
  scaled = Mul(normal, scale2)
  shifted = Add(scaled, bias2)
  full = Shape(X)
  Y = Reshape(shifted, full)
)";
constexpr std::string_view kRmsNormalization = R"(
  epsilon_f = Constant <value = float {{{epsilon}}}> ()
  epsilon = CastLike(epsilon_f, X)
  rows = Flatten <axis = {axis}> (X)
  square = Mul(rows, rows)
  mean = ReduceMean <axes = [1]> (square)
  padded = Add(mean, epsilon)
  root = Sqrt(padded)
  normal2 = Div(rows, root)
  full = Shape(X)
  normal = Reshape(normal2, full)
  Y = Mul(normal, scale)
)";
// {axis_value} and {element} come from the graph: Scan wants its axis as an attribute and typed inputs.
constexpr std::string_view kCumProd = R"(
  zero = Constant <value = int64 {{0}}> ()
  first = Gather <axis = {axis_value}> (X, zero)
  state_shape = Shape(first)
  ones_f = ConstantOfShape <value = float[1] {{1.0}}> (state_shape)
  ones = CastLike(ones_f, X)
  last, Y = Scan <num_scan_inputs = 1, scan_input_axes = [{axis_value}], scan_output_axes = [{axis_value}],
    scan_input_directions = [{reverse}], scan_output_directions = [{reverse}],
    body = step ({element} before, {element} x) => ({element} after, {element} y)
    {{ after = Mul(before, x) y = Identity(after) }}> (ones, X)
)";
constexpr std::string_view kCumProdExclusive = R"(
  zero = Constant <value = int64 {{0}}> ()
  first = Gather <axis = {axis_value}> (X, zero)
  state_shape = Shape(first)
  ones_f = ConstantOfShape <value = float[1] {{1.0}}> (state_shape)
  ones = CastLike(ones_f, X)
  last, Y = Scan <num_scan_inputs = 1, scan_input_axes = [{axis_value}], scan_output_axes = [{axis_value}],
    scan_input_directions = [{reverse}], scan_output_directions = [{reverse}],
    body = step ({element} before, {element} x) => ({element} after, {element} y)
    {{ after = Mul(before, x) y = Identity(before) }}> (ones, X)
)";

const std::vector<OperatorRow>& table() {
  static const std::vector<OperatorRow> rows = {
      {"Gelu", {"X"}, {{"approximate", std::string("none")}}, kGelu, kGeluTanh},
      {"Mish", {"X"}, {}, kMish, {}},
      {"Swish", {"X"}, {{"alpha", 1.0f}}, kSwish, {}},
      {"GroupNormalization",
       {"X", "scale", "bias"},
       {{"num_groups", std::int64_t{1}, true}, {"epsilon", 1e-5f}},
       kGroupNormalization,
       {}},
      {"RMSNormalization",
       {"X", "scale"},
       {{"axis", std::int64_t{-1}}, {"epsilon", 1e-5f}},
       kRmsNormalization,
       {}},
      {"CumProd",
       {"X", "axis"},
       {{"exclusive", std::int64_t{0}}, {"reverse", std::int64_t{0}}},
       kCumProd,
       kCumProdExclusive},
      {"Dims", {}, {{"of", std::vector<std::string>(), true}}, {}, {}},
  };
  return rows;
}

const OperatorRow* find_row(std::string_view op) {
  for (const OperatorRow& row : table())
    if (row.op == op) return &row;
  return nullptr;
}

bool wants_variant(const Node& node) {
  return node.string_attr("approximate", "none") == "tanh" || node.int_attr("exclusive", 0) != 0;
}

std::string_view text_type(DType dtype) {
  if (dtype == DType::kFloat32) return "float";
  if (dtype == DType::kFloat64) return "double";
  return name_of(dtype);
}

}  // namespace

bool is_kforge_operator(std::string_view op) { return op == kOpaque || find_row(op) != nullptr; }

bool is_opaque(const Graph& graph) {
  return std::ranges::any_of(graph.nodes,
                             [](const Node& node) { return node.domain == "kforge" && node.op == kOpaque; });
}

namespace {

const std::vector<std::string>* strings_attr(const Node& node, const std::string& name) {
  auto found = node.attributes.find(name);
  return found == node.attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&found->second);
}

Result<void> check_opaque(const Node& node) {
  const auto *arguments = strings_attr(node, "arguments"), *types = strings_attr(node, "types");
  if (node.string_attr("source", "").empty() || !strings_attr(node, "numbers") || !arguments || !types)
    return fail("node '{}': kforge.Opaque needs the attributes 'source', 'numbers', 'arguments' and 'types'",
                node.name);
  if (node.inputs.size() != arguments->size() + 1)
    return fail("node '{}': kforge.Opaque takes its numbers and one tensor for each of its {} arguments",
                node.name, arguments->size());
  if (node.outputs.empty() || node.outputs.size() != types->size())
    return fail("node '{}': kforge.Opaque has one output for each of its {} types", node.name, types->size());
  for (const std::string& type : *types)
    if (!dtype_from_name(type)) return fail("node '{}': there is no type '{}'", node.name, type);
  for (const std::string& argument : *arguments)
    if (!argument.starts_with("input:") && !argument.starts_with("state:"))
      return fail("node '{}': an argument of kforge.Opaque is an 'input:' or a 'state:', not '{}'", node.name,
                  argument);
  return {};
}

}  // namespace

Result<void> check_kforge_node(const Node& node) {
  if (node.op == kOpaque) return check_opaque(node);
  const OperatorRow* row = find_row(node.op);
  if (!row) return fail("node '{}': there is no operator kforge.{}", node.name, node.op);
  if (node.inputs.size() != row->inputs.size())
    return fail("node '{}': kforge.{} takes {} inputs, not {}", node.name, node.op, row->inputs.size(),
                node.inputs.size());
  for (const std::string& input : node.inputs)
    if (input.empty()) return fail("node '{}': every input of kforge.{} is needed", node.name, node.op);
  if (node.outputs.size() != 1 || node.outputs[0].empty())
    return fail("node '{}': kforge.{} has exactly one output", node.name, node.op);
  for (const auto& [name, value] : node.attributes) {
    const AttributeRow* known = nullptr;
    for (const AttributeRow& attribute : row->attributes)
      if (attribute.name == name) known = &attribute;
    if (!known) return fail("node '{}': kforge.{} has no attribute '{}'", node.name, node.op, name);
    if (known->otherwise.index() != value.index())
      return fail("node '{}': attribute '{}' of kforge.{} is of the wrong kind", node.name, name, node.op);
  }
  for (const AttributeRow& attribute : row->attributes)
    if (attribute.required && !node.has_attr(attribute.name))
      return fail("node '{}': kforge.{} needs the attribute '{}'", node.name, node.op, attribute.name);
  std::string approximate = node.string_attr("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return fail("node '{}': approximate is \"none\" or \"tanh\", not \"{}\"", node.name, approximate);
  if (node.int_attr("num_groups", 1) < 1) return fail("node '{}': num_groups must be positive", node.name);
  return {};
}

Result<std::vector<std::int64_t>> evaluate_dims(const Node& node,
                                                const std::map<std::string, std::int64_t>* dims) {
  std::vector<std::int64_t> values;
  auto found = node.attributes.find("of");
  const auto* entries =
      found == node.attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&found->second);
  if (!entries) return fail("node '{}': kforge.Dims needs the attribute 'of', a list of strings", node.name);
  for (const std::string& entry : *entries) {
    std::int64_t value = -1;
    auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), value);
    if (error == std::errc() && end == entry.data() + entry.size()) {
      values.push_back(value);
    } else if (!dims) {
      values.push_back(-1);
    } else if (auto known = dims->find(entry); known != dims->end()) {
      values.push_back(known->second);
    } else {
      return fail("node '{}': the dimension '{}' has no value", node.name, entry);
    }
  }
  return values;
}

Result<onnx::FunctionProto> make_kforge_function(const Node& node, const Graph& graph,
                                                 const std::string& name) {
  const OperatorRow* row = find_row(node.op);
  if (node.op == kOpaque) return fail("the task is opaque: its reference is a PyTorch module, not a graph");
  if (!row || row->body.empty()) return fail("kforge.{} has no function body", node.op);
  fmt::dynamic_format_arg_store<fmt::format_context> values;
  for (const AttributeRow& attribute : row->attributes) {
    auto given = node.attributes.find(std::string(attribute.name));
    const Attribute& value = given == node.attributes.end() ? attribute.otherwise : given->second;
    if (auto* number = std::get_if<std::int64_t>(&value))
      values.push_back(fmt::arg(attribute.name.data(), *number));
    if (auto* number = std::get_if<float>(&value))
      values.push_back(fmt::arg(attribute.name.data(), fmt::format("{:.9e}", *number)));
  }
  if (node.op == "CumProd") {
    const Initializer* axis = graph.find_initializer(node.inputs[1]);
    if (!axis || element_count(axis->tensor.shape) != 1)
      return fail("node '{}': the axis of kforge.CumProd is not a constant", node.name);
    auto type = graph.types.find(node.inputs[0]);
    values.push_back(fmt::arg("axis_value", axis->tensor.as_int64()[0]));
    values.push_back(
        fmt::arg("element", text_type(type == graph.types.end() ? DType::kFloat32 : type->second.dtype)));
  }
  std::string text = fmt::vformat(wants_variant(node) ? row->variant : row->body, values);

  onnx::FunctionProto function;
  function.set_name(name);
  function.set_domain("kforge");
  auto* opset = function.add_opset_import();
  opset->set_domain("");
  opset->set_version(17);
  for (std::string_view input : row->inputs) function.add_input(std::string(input));
  function.add_output("Y");
  onnx::OnnxParser parser(text.c_str());
  while (!parser.EndOfInput()) {
    auto status = parser.Parse(*function.add_node());
    KF_CHECK(status.IsOK(), "body of kforge.{}: {}", node.op, status.ErrorMessage());
  }
  return function;
}

}  // namespace kforge

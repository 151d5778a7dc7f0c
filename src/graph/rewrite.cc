#include "graph/rewrite.h"

#include <algorithm>

#include <fmt/ranges.h>
#include <onnx/defs/parser.h>

#include "graph/tensor_proto.h"

namespace kforge {
namespace {

using onnx::AttributeProto;

void drop_attribute(onnx::NodeProto& node, std::string_view name) {
  auto* attributes = node.mutable_attribute();
  for (int i = attributes->size() - 1; i >= 0; --i)
    if (attributes->Get(i).name() == name) attributes->DeleteSubrange(i, 1);
}

onnx::TensorProto float_tensor(const std::vector<float>& values, const Shape& shape) {
  ConstantTensor tensor{DType::kFloat32, shape, {}, {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  tensor.data.assign(bytes, bytes + values.size() * sizeof(float));
  return tensor_to_proto("", tensor);
}

std::string text_of(const AttributeProto& attribute) {
  switch (attribute.type()) {
    case AttributeProto::INT:
      return std::to_string(attribute.i());
    case AttributeProto::FLOAT:
      return fmt::format("{:g}", attribute.f());
    case AttributeProto::STRING:
      return attribute.s();
    case AttributeProto::INTS: {
      bool ones = std::all_of(attribute.ints().begin(), attribute.ints().end(),
                              [](std::int64_t v) { return v == 1; });
      return ones ? "[1,1]" : fmt::format("[{}]", fmt::join(attribute.ints(), ","));
    }
    default:
      return "?";
  }
}

}  // namespace

RewriteScope::RewriteScope(const onnx::GraphProto& graph, const RewriteScope* parent) : parent_(parent) {
  for (const auto& tensor : graph.initializer()) {
    constants_[tensor.name()] = &tensor;
    types_[tensor.name()] = tensor.data_type();
  }
  for (const auto* list : {&graph.input(), &graph.value_info(), &graph.output()})
    for (const auto& value : *list)
      if (value.type().has_tensor_type()) types_[value.name()] = value.type().tensor_type().elem_type();
  for (const auto& node : graph.node()) {
    if (node.op_type() != "Constant" || node.output_size() != 1) continue;
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "value") constants_[node.output(0)] = &attribute.t();
      if (attribute.name() == "value_int")
        made_[node.output(0)] = tensor_to_proto("", int64_tensor({attribute.i()}, {}));
      if (attribute.name() == "value_ints")
        made_[node.output(0)] =
            tensor_to_proto("", int64_vector({attribute.ints().begin(), attribute.ints().end()}));
    }
  }
}

const onnx::TensorProto* RewriteScope::constant(const std::string& name) const {
  if (auto found = constants_.find(name); found != constants_.end()) return found->second;
  if (auto found = made_.find(name); found != made_.end()) return &found->second;
  return parent_ ? parent_->constant(name) : nullptr;
}

int RewriteScope::element_type(const std::string& name) const {
  if (auto found = types_.find(name); found != types_.end()) return found->second;
  return parent_ ? parent_->element_type(name) : 0;
}

const AttributeProto* RewriteSite::attribute(std::string_view name) const {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}
std::int64_t RewriteSite::int_attribute(std::string_view name, std::int64_t otherwise) const {
  const AttributeProto* found = attribute(name);
  return found ? found->i() : otherwise;
}
float RewriteSite::float_attribute(std::string_view name, float otherwise) const {
  const AttributeProto* found = attribute(name);
  return found ? found->f() : otherwise;
}
std::string RewriteSite::string_attribute(std::string_view name, std::string_view otherwise) const {
  const AttributeProto* found = attribute(name);
  return found ? found->s() : std::string(otherwise);
}

Rule attributes_to_inputs(int first_input, std::vector<AttributeInput> attributes) {
  return [=](const RewriteSite& site) -> Result<NodeList> {
    using Kind = AttributeInput::Kind;
    NodeList out;
    onnx::NodeProto node = site.node;
    // Models written by tools that ran ahead of the opset already have inputs; leave them.
    if (node.input_size() > first_input) return NodeList{node};
    while (node.input_size() < first_input) node.add_input("");
    for (const AttributeInput& one : attributes) {
      const AttributeProto* given = site.attribute(one.name);
      drop_attribute(node, one.name);
      if (!given) {
        node.add_input("");
        continue;
      }
      std::string name = site.prefix + one.name;
      switch (one.kind) {
        case Kind::kInts:
          out.push_back(make_constant(
              name, tensor_to_proto("", int64_vector({given->ints().begin(), given->ints().end()}))));
          break;
        case Kind::kIntAsVector:
          out.push_back(make_constant(name, tensor_to_proto("", int64_vector({given->i()}))));
          break;
        case Kind::kFloats: {
          std::vector<float> values(given->floats().begin(), given->floats().end());
          out.push_back(
              make_constant(name, float_tensor(values, {static_cast<std::int64_t>(values.size())})));
          break;
        }
        case Kind::kFloatLikeX: {
          out.push_back(make_constant(name + "_f", float_tensor({given->f()}, {})));
          onnx::NodeProto cast;
          cast.set_op_type("CastLike");
          cast.add_input(name + "_f");
          cast.add_input(site.node.input(0));
          cast.add_output(name);
          out.push_back(std::move(cast));
          break;
        }
      }
      node.add_input(name);
    }
    while (node.input_size() > 0 && node.input(node.input_size() - 1).empty())
      node.mutable_input()->RemoveLast();
    out.push_back(std::move(node));
    return out;
  };
}

Rule input_to_attribute(int input, std::string attribute, bool is_list) {
  return [=](const RewriteSite& site) -> Result<NodeList> {
    onnx::NodeProto node = site.node;
    if (!site.has_input(input)) return NodeList{node};
    const onnx::TensorProto* constant = site.scope.constant(node.input(input));
    if (!constant)
      return fail("node '{}' ({}): its {} are computed; only constant ones are supported", node.name(),
                  node.op_type(), attribute);
    KF_TRY(ConstantTensor tensor, tensor_from_proto(*constant, {}));
    std::vector<std::int64_t> values = tensor.as_int64();
    if (!is_list && values.size() != 1)
      return fail("node '{}' ({}): {} must be one number", node.name(), node.op_type(), attribute);
    node.set_input(input, "");
    while (node.input_size() > 0 && node.input(node.input_size() - 1).empty())
      node.mutable_input()->RemoveLast();
    if (is_list) {
      // No axes at all and an empty list both mean the operator's default.
      if (!values.empty()) *node.add_attribute() = make_ints(attribute, values);
    } else {
      auto* made = node.add_attribute();
      made->set_name(attribute);
      made->set_type(AttributeProto::INT);
      made->set_i(values[0]);
    }
    return NodeList{node};
  };
}

Rule drop_attributes(std::vector<DroppedAttribute> attributes) {
  return [=](const RewriteSite& site) -> Result<NodeList> {
    onnx::NodeProto node = site.node;
    for (const DroppedAttribute& one : attributes) {
      const AttributeProto* given = site.attribute(one.name);
      if (!given) continue;
      std::string text = text_of(*given);
      if (!one.allowed.empty() && std::ranges::find(one.allowed, text) == one.allowed.end())
        return fail("node '{}' ({}): {} = {} is not supported", node.name(), node.op_type(), one.name, text);
      drop_attribute(node, one.name);
    }
    return NodeList{node};
  };
}

Rule rename(std::string op, std::string domain) {
  return [=](const RewriteSite& site) -> Result<NodeList> {
    onnx::NodeProto node = site.node;
    node.set_op_type(op);
    node.set_domain(domain);
    return NodeList{node};
  };
}

Rule refuse(std::string why) {
  return [=](const RewriteSite& site) -> Result<NodeList> {
    return fail("node '{}': operator {} of opset {} is not supported{}{}", site.node.name(),
                site.node.op_type(), site.opset, why.empty() ? "" : ": ", why);
  };
}

Rule in_turn(std::vector<Rule> rules) {
  return [=](const RewriteSite& site) -> Result<NodeList> {
    NodeList done;
    onnx::NodeProto current = site.node;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      RewriteSite next{current, site.opset, site.scope, fmt::format("{}{}:", site.prefix, i)};
      KF_TRY(NodeList nodes, rules[i](next));
      if (nodes.empty()) break;
      onnx::NodeProto last = std::move(nodes.back());
      nodes.pop_back();
      done.insert(done.end(), nodes.begin(), nodes.end());
      current = std::move(last);
    }
    done.push_back(std::move(current));
    return done;
  };
}

Result<NodeList> from_text(const RewriteSite& site, const std::string& text) {
  NodeList nodes;
  onnx::OnnxParser parser(text.c_str());
  while (!parser.EndOfInput()) {
    onnx::NodeProto node;
    auto status = parser.Parse(node);
    KF_CHECK(status.IsOK(), "rewrite of {}: {}", site.node.op_type(), status.ErrorMessage());
    nodes.push_back(std::move(node));
  }
  auto new_name = [&](const std::string& name, std::string_view kind,
                      const auto& originals) -> std::optional<std::string> {
    if (!name.starts_with(kind)) return std::nullopt;
    std::string digits = name.substr(kind.size());
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    int index = std::stoi(digits);
    return index < originals.size() ? originals.Get(index) : std::string();
  };
  auto replace = [&](std::string* name) {
    if (name->empty()) return;
    if (auto input = new_name(*name, "in", site.node.input()))
      *name = *input;
    else if (auto output = new_name(*name, "out", site.node.output()))
      *name = output->empty() ? site.prefix + *name : *output;
    else
      *name = site.prefix + *name;
  };
  for (onnx::NodeProto& node : nodes) {
    for (auto& name : *node.mutable_input()) replace(&name);
    for (auto& name : *node.mutable_output()) replace(&name);
    node.set_name(fmt::format("{}{}", site.prefix, node.output(0)));
  }
  return nodes;
}

AttributeProto make_ints(const std::string& name, const std::vector<std::int64_t>& values) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::INTS);
  for (std::int64_t value : values) attribute.add_ints(value);
  return attribute;
}

AttributeProto make_string(const std::string& name, const std::string& value) {
  AttributeProto attribute;
  attribute.set_name(name);
  attribute.set_type(AttributeProto::STRING);
  attribute.set_s(value);
  return attribute;
}

onnx::NodeProto make_constant(const std::string& name, onnx::TensorProto value) {
  onnx::NodeProto node;
  node.set_op_type("Constant");
  node.add_output(name);
  auto* attribute = node.add_attribute();
  attribute->set_name("value");
  attribute->set_type(AttributeProto::TENSOR);
  *attribute->mutable_t() = std::move(value);
  return node;
}

}  // namespace kforge

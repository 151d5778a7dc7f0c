#include "graph/graph.h"

#include <cstring>

#include <fmt/ranges.h>

namespace kforge {
namespace {

template <class T>
T attribute_or(const Node& node, std::string_view name, T otherwise) {
  auto found = node.attributes.find(std::string(name));
  if (found == node.attributes.end()) return otherwise;
  const T* value = std::get_if<T>(&found->second);
  return value ? *value : otherwise;
}

template <class Element, class Out>
void append_as(const ConstantTensor& tensor, std::vector<Out>& out) {
  std::size_t count = tensor.data.size() / sizeof(Element);
  out.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    Element element;
    std::memcpy(&element, tensor.data.data() + i * sizeof(Element), sizeof element);
    out[i] = static_cast<Out>(element);
  }
}

template <class Out>
std::vector<Out> converted(const ConstantTensor& tensor) {
  std::vector<Out> out;
  auto halves = [&](float (*convert)(std::uint16_t)) {
    std::vector<std::uint16_t> bits;
    append_as<std::uint16_t>(tensor, bits);
    for (std::uint16_t half : bits) out.push_back(static_cast<Out>(convert(half)));
  };
  switch (tensor.dtype) {
    case DType::kFloat32:
      append_as<float>(tensor, out);
      break;
    case DType::kFloat64:
      append_as<double>(tensor, out);
      break;
    case DType::kFloat16:
      halves(float_from_fp16);
      break;
    case DType::kBFloat16:
      halves(float_from_bf16);
      break;
    case DType::kInt8:
      append_as<std::int8_t>(tensor, out);
      break;
    case DType::kInt16:
      append_as<std::int16_t>(tensor, out);
      break;
    case DType::kInt32:
      append_as<std::int32_t>(tensor, out);
      break;
    case DType::kInt64:
      append_as<std::int64_t>(tensor, out);
      break;
    case DType::kUInt8:
    case DType::kBool:
      append_as<std::uint8_t>(tensor, out);
      break;
    case DType::kUInt16:
      append_as<std::uint16_t>(tensor, out);
      break;
    case DType::kUInt32:
      append_as<std::uint32_t>(tensor, out);
      break;
    case DType::kUInt64:
      append_as<std::uint64_t>(tensor, out);
      break;
    case DType::kString:
      break;
  }
  return out;
}

}  // namespace

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

bool TensorType::concrete() const {
  if (!ranked) return false;
  for (const Dim& dim : dims)
    if (!dim.known()) return false;
  return true;
}

Shape TensorType::shape() const {
  Shape shape;
  for (const Dim& dim : dims) shape.push_back(dim.value);
  return shape;
}

std::string to_string(const TensorType& type) {
  if (!type.ranked) return fmt::format("{}[?]", name_of(type.dtype));
  std::vector<std::string> dims;
  for (const Dim& dim : type.dims)
    dims.push_back(dim.known() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol);
  return fmt::format("{}[{}]", name_of(type.dtype), fmt::join(dims, ","));
}

std::vector<std::int64_t> ConstantTensor::as_int64() const { return converted<std::int64_t>(*this); }
std::vector<double> ConstantTensor::as_double() const { return converted<double>(*this); }

std::int64_t Node::int_attr(std::string_view name, std::int64_t otherwise) const {
  return attribute_or(*this, name, otherwise);
}
float Node::float_attr(std::string_view name, float otherwise) const {
  return attribute_or(*this, name, otherwise);
}
std::string Node::string_attr(std::string_view name, std::string_view otherwise) const {
  return attribute_or(*this, name, std::string(otherwise));
}
std::vector<std::int64_t> Node::ints_attr(std::string_view name) const {
  return attribute_or(*this, name, std::vector<std::int64_t>());
}
std::vector<float> Node::floats_attr(std::string_view name) const {
  return attribute_or(*this, name, std::vector<float>());
}
const ConstantTensor* Node::tensor_attr(std::string_view name) const {
  auto found = attributes.find(std::string(name));
  return found == attributes.end() ? nullptr : std::get_if<ConstantTensor>(&found->second);
}
const Graph* Node::graph_attr(std::string_view name) const {
  auto found = attributes.find(std::string(name));
  if (found == attributes.end()) return nullptr;
  auto* graph = std::get_if<std::shared_ptr<const Graph>>(&found->second);
  return graph ? graph->get() : nullptr;
}
bool Node::has_attr(std::string_view name) const { return attributes.contains(std::string(name)); }

const Initializer* Graph::find_initializer(std::string_view name) const {
  for (const Initializer& initializer : initializers)
    if (initializer.name == name) return &initializer;
  return nullptr;
}

}  // namespace kforge

#include "graph/fold.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/tensor_proto.h"

namespace kforge {
namespace {

// Larger results are data, not shapes.
constexpr std::int64_t kFoldLimit = 4096;

using Inputs = std::vector<const ConstantTensor*>;
using Ints = std::vector<std::int64_t>;
using Folded = std::optional<ConstantTensor>;

bool is_integer(DType dtype) {
  return dtype == DType::kInt64 || dtype == DType::kInt32 || dtype == DType::kBool;
}

// An integer tensor while it is computed with.
struct IntTensor {
  Shape shape;
  Ints values;
};

IntTensor ints_of(const ConstantTensor& tensor) { return {tensor.shape, tensor.as_int64()}; }

ConstantTensor constant_of(const IntTensor& tensor, DType dtype) {
  if (dtype == DType::kInt64) return int64_tensor(tensor.values, tensor.shape);
  ConstantTensor out{dtype, tensor.shape, {}, {}};
  out.data.resize(tensor.values.size() * size_of(dtype));
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    // Little endian: the low bytes of the wide number are the narrow number.
    std::memcpy(out.data.data() + i * size_of(dtype), &tensor.values[i], size_of(dtype));
  }
  return out;
}

std::optional<std::int64_t> normal_axis(std::int64_t axis, std::size_t rank) {
  auto extent = static_cast<std::int64_t>(rank);
  if (axis < -extent || axis >= extent) return std::nullopt;
  return axis < 0 ? axis + extent : axis;
}

Folded fold_constant(const Node& node) {
  if (const ConstantTensor* tensor = node.tensor_attr("value")) return *tensor;
  if (node.has_attr("value_int")) return int64_tensor({node.int_attr("value_int", 0)}, {});
  if (node.has_attr("value_ints")) return int64_vector(node.ints_attr("value_ints"));
  auto floats = [](const std::vector<float>& values, const Shape& shape) {
    ConstantTensor out{DType::kFloat32, shape, {}, {}};
    out.data.resize(values.size() * sizeof(float));
    if (!values.empty()) std::memcpy(out.data.data(), values.data(), out.data.size());
    return out;
  };
  if (node.has_attr("value_float")) return floats({node.float_attr("value_float", 0)}, {});
  if (node.has_attr("value_floats")) {
    auto values = node.floats_attr("value_floats");
    return floats(values, {static_cast<std::int64_t>(values.size())});
  }
  auto strings = [](std::vector<std::string> values, const Shape& shape) {
    return ConstantTensor{DType::kString, shape, {}, std::move(values)};
  };
  if (node.has_attr("value_string")) return strings({node.string_attr("value_string", "")}, {});
  if (auto found = node.attributes.find("value_strings"); found != node.attributes.end())
    if (auto* values = std::get_if<std::vector<std::string>>(&found->second))
      return strings(*values, {static_cast<std::int64_t>(values->size())});
  return std::nullopt;
}

Folded fold_shape(const Node& node, const std::optional<TensorType>& type) {
  if (!type || !type->ranked) return std::nullopt;
  auto rank = static_cast<std::int64_t>(type->dims.size());
  auto clip = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  std::int64_t start = clip(node.int_attr("start", 0)), end = clip(node.int_attr("end", rank));
  Ints values;
  for (std::int64_t i = start; i < end; ++i) {
    if (!type->dims[i].known()) return std::nullopt;
    values.push_back(type->dims[i].value);
  }
  return int64_vector(values);
}

Folded fold_size(const std::optional<TensorType>& type) {
  if (!type || !type->concrete()) return std::nullopt;
  return int64_tensor({element_count(type->shape())}, {});
}

Folded fold_gather(const Node& node, const Inputs& inputs) {
  IntTensor data = ints_of(*inputs[0]), indices = ints_of(*inputs[1]);
  auto axis = normal_axis(node.int_attr("axis", 0), data.shape.size());
  if (!axis || data.shape.size() != 1) return std::nullopt;
  IntTensor out{indices.shape, {}};
  for (std::int64_t index : indices.values) {
    if (index < 0) index += data.shape[0];
    if (index < 0 || index >= data.shape[0]) return std::nullopt;
    out.values.push_back(data.values[index]);
  }
  return constant_of(out, inputs[0]->dtype);
}

Folded fold_concat(const Inputs& inputs) {
  IntTensor out{{0}, {}};
  for (const ConstantTensor* input : inputs) {
    if (input->shape.size() != 1 || input->dtype != inputs[0]->dtype) return std::nullopt;
    Ints values = input->as_int64();
    out.values.insert(out.values.end(), values.begin(), values.end());
  }
  out.shape[0] = static_cast<std::int64_t>(out.values.size());
  return constant_of(out, inputs[0]->dtype);
}

Folded fold_slice(const Inputs& inputs) {
  if (inputs.size() < 3 || inputs[0]->shape.size() != 1) return std::nullopt;
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i] && element_count(inputs[i]->shape) != 1) return std::nullopt;
  IntTensor data = ints_of(*inputs[0]);
  std::int64_t extent = data.shape[0], step = inputs.size() > 4 && inputs[4] ? inputs[4]->as_int64()[0] : 1;
  if (step == 0 || step == INT64_MIN) return std::nullopt;
  auto clip = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    if (at < 0) at = at < -extent ? -1 : at + extent;
    return std::clamp(at, low, high);
  };
  std::int64_t first = inputs[1]->as_int64()[0], last = inputs[2]->as_int64()[0];
  IntTensor out{{0}, {}};
  if (step > 0)
    for (std::int64_t i = clip(first, 0, extent), end = clip(last, 0, extent); i < end;
         i += std::min(step, extent))
      out.values.push_back(data.values[i]);
  else
    for (std::int64_t i = clip(first, -1, extent - 1), end = clip(last, -1, extent - 1); i > end;
         i += std::max(step, -extent))
      out.values.push_back(data.values[i]);
  out.shape[0] = static_cast<std::int64_t>(out.values.size());
  return constant_of(out, inputs[0]->dtype);
}

// Squeeze, Unsqueeze, Reshape, Identity, Flatten of a constant change only its shape; of small rank here.
Folded fold_reshape(const Node& node, const Inputs& inputs) {
  ConstantTensor out = *inputs[0];
  std::int64_t count = element_count(out.shape);
  if (node.op == "Identity") return out;
  if (node.op == "Squeeze" && count == 1) {
    Ints axes = inputs.size() > 1 && inputs[1] ? inputs[1]->as_int64() : Ints();
    std::size_t removed = axes.empty() ? out.shape.size() : axes.size();
    if (removed > out.shape.size()) return std::nullopt;
    out.shape.assign(out.shape.size() - removed, 1);
    return out;
  }
  if (node.op == "Unsqueeze" && inputs.size() > 1 && inputs[1]) {
    Ints axes = inputs[1]->as_int64();
    std::size_t rank = out.shape.size() + axes.size();
    std::vector<bool> is_new(rank);
    for (std::int64_t axis : axes) {
      auto at = normal_axis(axis, rank);
      if (!at || is_new[*at]) return std::nullopt;
      is_new[*at] = true;
    }
    Shape shape;
    for (std::size_t i = 0, old = 0; i < rank; ++i) shape.push_back(is_new[i] ? 1 : out.shape[old++]);
    out.shape = shape;
    return out;
  }
  if (node.op == "Reshape" && inputs.size() > 1 && inputs[1]) {
    Ints target = inputs[1]->as_int64();
    if (target == Ints{-1}) {
      out.shape = {count};
      return out;
    }
    if (std::all_of(target.begin(), target.end(), [](std::int64_t d) { return d > 0 && d <= kFoldLimit; }) &&
        target.size() <= 8 && element_count(target) == count) {
      out.shape = target;
      return out;
    }
  }
  return std::nullopt;
}

Folded fold_cast(const Node& node, const Inputs& inputs) {
  auto to = dtype_from_onnx(static_cast<int>(node.int_attr("to", 0)));
  if (!to || !is_integer(*to) || !is_integer(inputs[0]->dtype)) return std::nullopt;
  IntTensor value = ints_of(*inputs[0]);
  for (std::int64_t& v : value.values)
    v = *to == DType::kBool ? v != 0 : *to == DType::kInt32 ? static_cast<std::int32_t>(v) : v;
  return constant_of(value, *to);
}

std::optional<std::int64_t> binary(const std::string& op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (op == "Add") return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  if (op == "Sub") return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  if (op == "Mul") return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
  if (op == "Div") return b == 0 || b == -1 ? std::nullopt : std::optional(a / b);
  if (op == "Mod") {
    if (b == 0 || b == -1) return std::nullopt;
    std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  if (op == "Max") return std::max(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Equal") return a == b;
  if (op == "Greater") return a > b;
  if (op == "Less") return a < b;
  return std::nullopt;
}

Folded fold_binary(const Node& node, const Inputs& inputs) {
  if (inputs.size() != 2 || node.int_attr("fmod", 0) != 0) return std::nullopt;
  if (inputs[0]->dtype != inputs[1]->dtype || inputs[0]->dtype == DType::kBool) return std::nullopt;
  IntTensor a = ints_of(*inputs[0]), b = ints_of(*inputs[1]);
  bool same = a.shape == b.shape;
  if (!same && a.values.size() != 1 && b.values.size() != 1) return std::nullopt;
  IntTensor out{
      same || a.shape.size() > b.shape.size() || (a.shape.size() == b.shape.size() && b.values.size() == 1)
          ? a.shape
          : b.shape,
      {}};
  // A single element against a tensor of lower rank would change the rank; leave that to the oracle.
  if (element_count(out.shape) != static_cast<std::int64_t>(std::max(a.values.size(), b.values.size())))
    return std::nullopt;
  for (std::size_t i = 0; i < std::max(a.values.size(), b.values.size()); ++i) {
    auto value =
        binary(node.op, a.values[a.values.size() == 1 ? 0 : i], b.values[b.values.size() == 1 ? 0 : i]);
    if (!value) return std::nullopt;
    out.values.push_back(*value);
  }
  bool flag = node.op == "Equal" || node.op == "Greater" || node.op == "Less";
  return constant_of(out, flag ? DType::kBool : inputs[0]->dtype);
}

Folded fold_where(const Inputs& inputs) {
  if (inputs.size() != 3 || inputs[0]->shape != inputs[1]->shape || inputs[0]->shape != inputs[2]->shape)
    return std::nullopt;
  IntTensor c = ints_of(*inputs[0]), a = ints_of(*inputs[1]), b = ints_of(*inputs[2]);
  for (std::size_t i = 0; i < a.values.size(); ++i)
    if (!c.values[i]) a.values[i] = b.values[i];
  return constant_of(a, inputs[1]->dtype);
}

Folded fold_range(const Inputs& inputs) {
  if (inputs.size() != 3) return std::nullopt;
  std::int64_t start = inputs[0]->as_int64().at(0), limit = inputs[1]->as_int64().at(0),
               delta = inputs[2]->as_int64().at(0);
  std::int64_t span = 0;
  if (delta == 0 || delta == INT64_MIN || __builtin_sub_overflow(limit, start, &span)) return std::nullopt;
  double count = std::max(0.0, std::ceil(static_cast<double>(span) / static_cast<double>(delta)));
  if (count > kFoldLimit) return std::nullopt;
  IntTensor out{{static_cast<std::int64_t>(count)}, {}};
  for (std::int64_t i = 0; i < out.shape[0]; ++i) out.values.push_back(start + i * delta);
  return constant_of(out, inputs[0]->dtype);
}

// ConstantOfShape and Expand: short vectors of one value, as the detour of exported Expand targets makes
// them.
Folded fold_constant_of_shape(const Node& node, const Inputs& inputs) {
  const ConstantTensor* value = node.tensor_attr("value");
  if (!value || value->dtype == DType::kString || element_count(value->shape) != 1) return std::nullopt;
  Ints shape = inputs[0]->as_int64();
  std::int64_t limit = is_integer(value->dtype) ? kFoldLimit : 64;
  if (shape.size() > 1 || (shape.size() == 1 && (shape[0] < 0 || shape[0] > limit))) return std::nullopt;
  if (!is_integer(value->dtype)) {
    ConstantTensor out{value->dtype, shape, {}, {}};
    for (std::int64_t i = 0; i < element_count(shape); ++i)
      out.data.insert(out.data.end(), value->data.begin(), value->data.end());
    return out;
  }
  IntTensor out{shape, Ints(static_cast<std::size_t>(element_count(shape)), value->as_int64()[0])};
  return constant_of(out, value->dtype);
}

Folded fold_reduce_prod(const Node& node, const Inputs& inputs) {
  if (inputs[0]->shape.size() != 1) return std::nullopt;
  std::int64_t product = 1;
  for (std::int64_t value : inputs[0]->as_int64())
    if (__builtin_mul_overflow(product, value, &product)) return std::nullopt;
  IntTensor out{node.int_attr("keepdims", 1) ? Shape{1} : Shape{}, {product}};
  return constant_of(out, inputs[0]->dtype);
}

Folded fold_unary(const Node& node, const Inputs& inputs) {
  IntTensor value = ints_of(*inputs[0]);
  if (inputs[0]->dtype == DType::kBool) return std::nullopt;
  for (std::int64_t& v : value.values) {
    if (v == INT64_MIN) return std::nullopt;
    v = node.op == "Neg" ? -v : std::abs(v);
  }
  return constant_of(value, inputs[0]->dtype);
}

// Vectors of any element type, a few entries long: rewrites of Pad and Resize put the entries of some axes
// among those of all axes.
Folded fold_scatter(const Node& node, const Inputs& inputs) {
  constexpr std::int64_t kFewEntries = 64;
  if (node.string_attr("reduction", "none") != "none" || inputs.size() != 3) return std::nullopt;
  for (const ConstantTensor* input : inputs)
    if (!input || input->shape.size() != 1 || input->shape[0] > kFewEntries) return std::nullopt;
  if (inputs[0]->dtype != inputs[2]->dtype || inputs[1]->shape != inputs[2]->shape ||
      !is_integer(inputs[1]->dtype) || inputs[0]->dtype == DType::kString)
    return std::nullopt;
  ConstantTensor out = *inputs[0];
  std::size_t size = size_of(out.dtype);
  Ints places = inputs[1]->as_int64();
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::int64_t at = places[i] < 0 ? places[i] + out.shape[0] : places[i];
    if (at < 0 || at >= out.shape[0]) return std::nullopt;
    std::memcpy(out.data.data() + at * size, inputs[2]->data.data() + i * size, size);
  }
  return out;
}

Folded fold_one(const Node& node, const Inputs& inputs, const std::vector<std::optional<TensorType>>& types) {
  const std::string& op = node.op;
  if (op == "Constant") return fold_constant(node);
  if (inputs.empty()) return std::nullopt;
  if (op == "Shape") return fold_shape(node, types[0]);
  if (op == "Size") return fold_size(types[0]);
  if (op == "ScatterElements") return fold_scatter(node, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] && !node.inputs[i].empty()) return std::nullopt;
    if (inputs[i] && (!is_integer(inputs[i]->dtype) || element_count(inputs[i]->shape) > kFoldLimit))
      return std::nullopt;
  }
  if (!inputs[0]) return std::nullopt;
  if (op == "Neg" || op == "Abs") return fold_unary(node, inputs);
  if (op == "Gather" && inputs.size() == 2) return fold_gather(node, inputs);
  if (op == "Slice") return fold_slice(inputs);
  if (op == "Squeeze" || op == "Unsqueeze" || op == "Reshape" || op == "Identity")
    return fold_reshape(node, inputs);
  if (op == "Cast") return fold_cast(node, inputs);
  if (op == "ConstantOfShape") return fold_constant_of_shape(node, inputs);
  if (op == "ReduceProd") return fold_reduce_prod(node, inputs);
  for (const ConstantTensor* input : inputs)
    if (!input) return std::nullopt;
  if (op == "Concat") return fold_concat(inputs);
  if (op == "Where") return fold_where(inputs);
  if (op == "Range") return fold_range(inputs);
  return fold_binary(node, inputs);
}

}  // namespace

std::optional<ConstantTensor> fold_node(const Node& node, const Inputs& inputs,
                                        const std::vector<std::optional<TensorType>>& types) {
  if (!node.domain.empty() || node.outputs.size() != 1) return std::nullopt;
  return fold_one(node, inputs, types);
}

}  // namespace kforge

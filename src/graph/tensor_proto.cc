#include "graph/tensor_proto.h"

#include <cstring>
#include <fstream>

#include "graph/external_data.h"

namespace kforge {
namespace {

using onnx::TensorProto;

struct TypeRow {
  DType dtype;
  int onnx;
};
constexpr TypeRow kTypes[] = {
    {DType::kFloat32, TensorProto::FLOAT},   {DType::kFloat64, TensorProto::DOUBLE},
    {DType::kFloat16, TensorProto::FLOAT16}, {DType::kBFloat16, TensorProto::BFLOAT16},
    {DType::kInt8, TensorProto::INT8},       {DType::kInt16, TensorProto::INT16},
    {DType::kInt32, TensorProto::INT32},     {DType::kInt64, TensorProto::INT64},
    {DType::kUInt8, TensorProto::UINT8},     {DType::kUInt16, TensorProto::UINT16},
    {DType::kUInt32, TensorProto::UINT32},   {DType::kUInt64, TensorProto::UINT64},
    {DType::kBool, TensorProto::BOOL},       {DType::kString, TensorProto::STRING},
};

// Types newer than libonnx 1.12 knows, by the numbers of the current ONNX specification.
constexpr std::string_view kUnreadTypes[] = {
    "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",
    "int4",         "float4e2m1",     "float8e8m0", "uint2",          "int2"};

// Copies one of the typed fields ("int32_data" holds all narrow types, one element per entry).
template <class Element, class Field>
bool copy_field(const Field& field, std::size_t count, std::vector<std::byte>& out) {
  if (static_cast<std::size_t>(field.size()) != count) return false;
  out.resize(count * sizeof(Element));
  for (std::size_t i = 0; i < count; ++i) {
    auto element = static_cast<Element>(field.Get(static_cast<int>(i)));
    std::memcpy(out.data() + i * sizeof(Element), &element, sizeof element);
  }
  return true;
}

bool copy_typed(const TensorProto& proto, DType dtype, std::size_t count, std::vector<std::byte>& out) {
  switch (dtype) {
    case DType::kFloat32:
      return copy_field<float>(proto.float_data(), count, out);
    case DType::kFloat64:
      return copy_field<double>(proto.double_data(), count, out);
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kUInt16:
      return copy_field<std::uint16_t>(proto.int32_data(), count, out);
    case DType::kInt8:
      return copy_field<std::int8_t>(proto.int32_data(), count, out);
    case DType::kInt16:
      return copy_field<std::int16_t>(proto.int32_data(), count, out);
    case DType::kInt32:
      return copy_field<std::int32_t>(proto.int32_data(), count, out);
    case DType::kInt64:
      return copy_field<std::int64_t>(proto.int64_data(), count, out);
    case DType::kUInt8:
      return copy_field<std::uint8_t>(proto.int32_data(), count, out);
    case DType::kBool: {
      if (!copy_field<std::uint8_t>(proto.int32_data(), count, out)) return false;
      for (std::byte& flag : out) flag = std::byte{flag != std::byte{0}};
      return true;
    }
    case DType::kUInt32:
      return copy_field<std::uint32_t>(proto.uint64_data(), count, out);
    case DType::kUInt64:
      return copy_field<std::uint64_t>(proto.uint64_data(), count, out);
    case DType::kString:
      return false;
  }
  return false;
}

}  // namespace

std::optional<DType> dtype_from_onnx(int onnx_type) {
  for (const TypeRow& row : kTypes)
    if (row.onnx == onnx_type) return row.dtype;
  return std::nullopt;
}

int onnx_type_of(DType dtype) { return kTypes[static_cast<std::size_t>(dtype)].onnx; }

std::string onnx_type_name(int onnx_type) {
  if (auto dtype = dtype_from_onnx(onnx_type)) return std::string(name_of(*dtype));
  if (onnx_type == TensorProto::COMPLEX64) return "complex64";
  if (onnx_type == TensorProto::COMPLEX128) return "complex128";
  if (onnx_type == 0) return "undefined";
  constexpr int first = TensorProto::BFLOAT16 + 1;
  if (onnx_type >= first && onnx_type < first + static_cast<int>(std::size(kUnreadTypes)))
    return std::string(kUnreadTypes[onnx_type - first]);
  return fmt::format("type {}", onnx_type);
}

Result<ConstantTensor> tensor_from_proto(const TensorProto& proto, const std::filesystem::path& folder) {
  auto dtype = dtype_from_onnx(proto.data_type());
  if (!dtype)
    return fail("tensor '{}': element type {} is not supported", proto.name(),
                onnx_type_name(proto.data_type()));
  ConstantTensor tensor;
  tensor.dtype = *dtype;
  std::size_t count = 1;
  for (std::int64_t extent : proto.dims()) {
    if (extent < 0) return fail("tensor '{}' has the negative dimension {}", proto.name(), extent);
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(extent), &count) ||
        count > (std::size_t{1} << 40))
      return fail("tensor '{}' is too large: more than 2^40 elements", proto.name());
    tensor.shape.push_back(extent);
  }
  if (proto.has_segment())
    return fail("tensor '{}' is stored in segments, which is not supported", proto.name());
  if (proto.data_location() == TensorProto::EXTERNAL) {
    KF_TRY(tensor.data, read_external_data(proto, folder, count * size_of(*dtype)));
    return tensor;
  }
  if (*dtype == DType::kString) {
    if (static_cast<std::size_t>(proto.string_data_size()) != count)
      return fail("tensor '{}' has {} strings where its shape {} needs {}", proto.name(),
                  proto.string_data_size(), to_string(tensor.shape), count);
    tensor.strings.assign(proto.string_data().begin(), proto.string_data().end());
    return tensor;
  }
  if (proto.has_raw_data()) {
    if (proto.raw_data().size() != count * size_of(*dtype))
      return fail("tensor '{}' has {} bytes of data where its type {}{} needs {}", proto.name(),
                  proto.raw_data().size(), name_of(*dtype), to_string(tensor.shape), count * size_of(*dtype));
    tensor.data.resize(proto.raw_data().size());
    if (!tensor.data.empty()) std::memcpy(tensor.data.data(), proto.raw_data().data(), tensor.data.size());
    return tensor;
  }
  if (!copy_typed(proto, *dtype, count, tensor.data))
    return fail("tensor '{}' does not have the {} elements its shape {} needs", proto.name(), count,
                to_string(tensor.shape));
  return tensor;
}

TensorProto tensor_to_proto(const std::string& name, const ConstantTensor& tensor) {
  TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(onnx_type_of(tensor.dtype));
  for (std::int64_t extent : tensor.shape) proto.add_dims(extent);
  if (tensor.dtype == DType::kString)
    for (const std::string& text : tensor.strings) proto.add_string_data(text);
  else
    proto.set_raw_data(tensor.data.data(), tensor.data.size());
  return proto;
}

Result<TensorType> type_from_proto(const onnx::TypeProto& proto, const std::string& value_name) {
  using onnx::TypeProto;
  switch (proto.value_case()) {
    case TypeProto::kTensorType:
      break;
    case TypeProto::kSequenceType:
      return fail("value '{}': sequence types are not supported", value_name);
    case TypeProto::kMapType:
      return fail("value '{}': map types are not supported", value_name);
    case TypeProto::kOptionalType:
      return fail("value '{}': optional types are not supported", value_name);
    case TypeProto::kSparseTensorType:
      return fail("value '{}': sparse tensors are not supported", value_name);
    default:
      return fail("value '{}' has no type", value_name);
  }
  const auto& tensor = proto.tensor_type();
  auto dtype = dtype_from_onnx(tensor.elem_type());
  if (!dtype)
    return fail("value '{}': element type {} is not supported", value_name,
                onnx_type_name(tensor.elem_type()));
  TensorType type;
  type.dtype = *dtype;
  type.ranked = tensor.has_shape();
  for (const auto& proto_dim : tensor.shape().dim()) {
    Dim dim;
    if (proto_dim.has_dim_value() && proto_dim.dim_value() >= 0)
      dim.value = proto_dim.dim_value();
    else if (proto_dim.has_dim_param())
      dim.symbol = proto_dim.dim_param();
    type.dims.push_back(std::move(dim));
  }
  return type;
}

onnx::TypeProto type_to_proto(const TensorType& type) {
  onnx::TypeProto proto;
  auto* tensor = proto.mutable_tensor_type();
  tensor->set_elem_type(onnx_type_of(type.dtype));
  if (!type.ranked) return proto;
  auto* shape = tensor->mutable_shape();
  for (const Dim& dim : type.dims) {
    auto* proto_dim = shape->add_dim();
    if (dim.known())
      proto_dim->set_dim_value(dim.value);
    else if (!dim.symbol.empty())
      proto_dim->set_dim_param(dim.symbol);
  }
  return proto;
}

TensorType type_of(const ConstantTensor& tensor) {
  TensorType type;
  type.dtype = tensor.dtype;
  for (std::int64_t extent : tensor.shape) type.dims.push_back(Dim{extent, {}});
  return type;
}

ConstantTensor int64_tensor(const std::vector<std::int64_t>& values, const Shape& shape) {
  ConstantTensor tensor;
  tensor.dtype = DType::kInt64;
  tensor.shape = shape;
  tensor.data.resize(values.size() * sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

ConstantTensor int64_vector(const std::vector<std::int64_t>& values) {
  return int64_tensor(values, {static_cast<std::int64_t>(values.size())});
}

}  // namespace kforge

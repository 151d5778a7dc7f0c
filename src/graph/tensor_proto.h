// Constant tensors between ONNX's protobuf form and ours. Internal to graph/: the only headers that mention
// onnx:: are included by .cc files of this folder alone.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <onnx/onnx_pb.h>

#include "graph/graph.h"

namespace kforge {

// Nothing for types KForge does not read (complex, float8, int4, ...).
std::optional<DType> dtype_from_onnx(int onnx_type);
int onnx_type_of(DType dtype);
std::string onnx_type_name(int onnx_type);  // for messages: "complex64", "float8e4m3fn", "type 99"

// `folder` is where external data may lie ("" forbids it). Sizes are checked against the data that is there
// before anything is allocated.
Result<ConstantTensor> tensor_from_proto(const onnx::TensorProto& proto, const std::filesystem::path& folder);
onnx::TensorProto tensor_to_proto(const std::string& name, const ConstantTensor& tensor);

Result<TensorType> type_from_proto(const onnx::TypeProto& proto, const std::string& value_name);
onnx::TypeProto type_to_proto(const TensorType& type);
TensorType type_of(const ConstantTensor& tensor);

// A constant from numbers, for rewrites and folding.
ConstantTensor int64_tensor(const std::vector<std::int64_t>& values, const Shape& shape);
ConstantTensor int64_vector(const std::vector<std::int64_t>& values);

}  // namespace kforge

// From bytes or text to ONNX's protobuf form, with the limits that keep a hostile file harmless.
#pragma once

#include <string>
#include <string_view>

#include <onnx/onnx_pb.h>

#include "base/result.h"

namespace kforge {

Result<onnx::ModelProto> read_model_file(const std::string& path);
// The header `<ir_version: ..., opset_import: [...]>` may be missing: opset 17 then.
Result<onnx::ModelProto> read_model_text(std::string_view text, std::string_view name_for_messages);

}  // namespace kforge

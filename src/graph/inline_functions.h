// Model-local functions of a file are expanded into the nodes they stand for: the canonical graph has none.
#pragma once

#include <onnx/onnx_pb.h>

#include "base/result.h"

namespace kforge {

Result<void> inline_functions(onnx::ModelProto& model);

}  // namespace kforge

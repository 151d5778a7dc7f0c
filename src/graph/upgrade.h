// Brings a model of any opset to the canonical one: opset 17 and operators of domain "kforge".
#pragma once

#include <onnx/onnx_pb.h>

#include "base/result.h"

namespace kforge {

Result<void> upgrade_to_opset17(onnx::ModelProto& model);

}  // namespace kforge

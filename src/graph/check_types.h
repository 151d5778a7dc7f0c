// Element types against an operator's type constraints. libonnx 1.12 could check them itself, but refuses
// bfloat16 in many operators whose later versions take it; here bfloat16 is allowed wherever float16 or float
// is.
#pragma once

#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include "graph/graph.h"

namespace kforge {

Result<void> check_type_constraints(const Node& node, const onnx::OpSchema& schema,
                                    onnx::shape_inference::InferenceContextImpl& context);

}  // namespace kforge

// Brings a graph of any opset to the canonical one: opset 17 and operators of domain "kforge".
#pragma once

#include <set>
#include <string>
#include <utility>

#include <onnx/onnx_pb.h>

#include "base/result.h"

namespace kforge {

// The opset of every graph inside KForge.
constexpr int kOpset = 17;

// An Error names the operator or attribute that has no equivalent. Nodes that call one of the functions
// (domain, name) stay as they are.
Result<void> upgrade_to_opset17(onnx::GraphProto& graph, int opset,
                                const std::set<std::pair<std::string, std::string>>& functions = {});

}  // namespace kforge

// Graphs and nodes between ONNX's protobuf form and ours, one to one: no rewriting, no inference.
#pragma once

#include <filesystem>

#include <onnx/onnx_pb.h>

#include "graph/graph.h"

namespace kforge {

// Nodes without a name get one ("MatMul_3"). `folder` is where external data may lie.
Result<Graph> graph_from_proto(const onnx::GraphProto& proto, const std::filesystem::path& folder);
onnx::NodeProto node_to_proto(const Node& node);
// Types of inner values are included where known.
onnx::GraphProto graph_to_proto(const Graph& graph);

}  // namespace kforge

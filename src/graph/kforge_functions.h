// The operators of domain "kforge": what opset 17 lacks, with the body that defines each in terms of
// opset 17.
#pragma once

#include <optional>
#include <vector>

#include <onnx/onnx_pb.h>

#include "graph/graph.h"

namespace kforge {

// A PyTorch module that no exporter takes: it computes the node's outputs, whose types are the declared ones
// of the graph. Inputs: a vector of the numbers at the top of its file, named by the attribute `numbers`,
// then a tensor for each of `arguments` ("input:x", "state:fc.weight"). `types` are the outputs' element
// types, `source` is the file. docs/import.md tells what such a task is.
inline constexpr std::string_view kOpaque = "Opaque";

bool is_kforge_operator(std::string_view op);
// Arity, attribute names and kinds, as the checker does for ONNX's own operators.
Result<void> check_kforge_node(const Node& node);

// Type of the only output, from the types of the inputs (null where unknown). An Error says what does not
// fit: groups that do not divide the channels, a scale of another width, ...
Result<std::optional<TensorType>> infer_kforge_type(const Node& node,
                                                    const std::vector<const TensorType*>& inputs);

// kforge.Dims: numbers of its entries; symbols need `dims` (null: they count as -1).
Result<std::vector<std::int64_t>> evaluate_dims(const Node& node,
                                                const std::map<std::string, std::int64_t>* dims);

// The function that computes this node, its attributes filled in. `name` is the function's name. The graph
// tells types and constants the body depends on.
Result<onnx::FunctionProto> make_kforge_function(const Node& node, const Graph& graph,
                                                 const std::string& name);

}  // namespace kforge

// The canonical graph: what every other part sees of an ONNX model. Operators are those of opset 17 plus a
// few of domain "kforge" (Gelu, Mish, GroupNormalization, ...) into which newer forms are rewritten on
// loading, so nobody else needs to know about ONNX versions or protobuf.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/dtype.h"

namespace kforge {

using Shape = std::vector<std::int64_t>;

std::int64_t element_count(const Shape& shape);  // 1 for a scalar (empty shape)
std::string to_string(const Shape& shape);       // "[2,3]"

// A dimension is a number, or a symbol that a shape set gives a number, or unknown (both absent).
struct Dim {
  std::int64_t value = -1;
  std::string symbol;

  bool known() const { return value >= 0; }
};

struct TensorType {
  DType dtype = DType::kFloat32;
  std::vector<Dim> dims;
  bool ranked = true;  // false: even the number of dimensions is unknown

  bool concrete() const;  // every dimension known
  Shape shape() const;    // REQUIRES: concrete()
};

std::string to_string(const TensorType& type);  // "float32[B,64,?]", "int64[]", "float32[?]" when unranked

// A tensor whose value is part of the graph. `data` is raw little-endian elements; strings are in `strings`.
struct ConstantTensor {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<std::byte> data;
  std::vector<std::string> strings;

  std::vector<std::int64_t> as_int64() const;  // converts any numeric element type
  std::vector<double> as_double() const;
};

struct Graph;

using Attribute =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                 std::vector<std::string>, ConstantTensor, std::shared_ptr<const Graph>>;

struct Node {
  std::string name;                  // for messages; may be empty in the file, then made up ("MatMul_3")
  std::string op;                    // "MatMul"
  std::string domain;                // "" (ONNX) or "kforge"
  std::vector<std::string> inputs;   // "" where an optional input is absent
  std::vector<std::string> outputs;  // "" where an optional output is absent
  std::map<std::string, Attribute> attributes;

  // Attribute readers with ONNX's default given by the caller. A wrong type in a file was refused on loading
  // where the checker knows the operator; otherwise the default is returned.
  std::int64_t int_attr(std::string_view name, std::int64_t otherwise) const;
  float float_attr(std::string_view name, float otherwise) const;
  std::string string_attr(std::string_view name, std::string_view otherwise) const;
  std::vector<std::int64_t> ints_attr(std::string_view name) const;  // empty when absent
  std::vector<float> floats_attr(std::string_view name) const;
  const ConstantTensor* tensor_attr(std::string_view name) const;  // null when absent
  const Graph* graph_attr(std::string_view name) const;
  bool has_attr(std::string_view name) const;
};

struct Value {
  std::string name;
  TensorType type;
  bool typed = true;  // false: the file says nothing, not even the element type (inputs of nested graphs)
};

struct Initializer {
  std::string name;
  ConstantTensor tensor;
  // Part of the computation (a Constant node, a shape, axes, a scalar, something computed from those), not an
  // argument of a kernel.
  bool folded = false;
};

struct Graph {
  std::string name;
  std::vector<Value> inputs;  // in the file's order, without those that are initializers
  std::vector<Value> outputs;
  std::vector<Initializer> initializers;
  std::vector<Node> nodes;  // topologically sorted
  std::map<std::string, TensorType>
      types;  // of every value shape inference could tell, inputs and outputs too

  const Initializer* find_initializer(std::string_view name) const;
};

// Reads a binary .onnx or the text form (libonnx's syntax, file name ending in .txt), applies the rewrites,
// checks it, infers types, folds constants. Hostile files give an Error that names what is wrong.
Result<Graph> load_graph(const std::string& path);
Result<Graph> parse_graph_text(std::string_view text, std::string_view name_for_messages);

// The same graph with every symbol replaced and all shapes inferred again. An Error names the symbol that has
// no value or the node at which shapes do not fit.
Result<Graph> bind_dims(const Graph& graph, const std::map<std::string, std::int64_t>& dims);

// The graph as a binary ONNX model of opset 17; operators of domain "kforge" come as model-local functions,
// so that any runtime can execute it.
Result<std::string> to_onnx_model(const Graph& graph);
// The graph as JSON (inputs, outputs, initializers without data, nodes with attributes, types), for Python.
std::string to_json(const Graph& graph);

// Readable listing: one line per value and node, with shapes.
std::string print_graph(const Graph& graph);

}  // namespace kforge

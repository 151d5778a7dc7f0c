// How operators become stages. A Value is a tensor seen as a function of a position: operators on elements
// and changes of shape only wrap that function, so they cost nothing until somebody stores the result.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "smith/graph/program.h"

namespace kforge::smith {

using Position = std::vector<Expr>;

struct Value {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::function<Expr(const Position&)> at;
  std::string tensor;  // non-empty: nothing but this tensor, read under a view of dimensions `shape`
  double cost = 1;     // of one element

  std::size_t rank() const { return shape.size(); }
  Type type() const { return type_for(dtype); }
};

// Arithmetic that is worth storing when it would be done a second time.
constexpr double kWorthStoring = 12;

// Thrown by an operator that cannot be lowered; lower() turns it into an Error that names the node.
struct Unsupported {
  std::string why;
};

class Lowering {
 public:
  explicit Lowering(const Problem& problem);
  Program run();

  // Inputs of the node being lowered. input() throws where it is absent.
  bool has(std::size_t i) const { return i < node_->inputs.size() && !node_->inputs[i].empty(); }
  const Value& input(std::size_t i) const;
  const Node& node() const { return *node_; }
  // An input that must be known now (axes, shapes): its elements.
  std::optional<std::vector<std::int64_t>> constant_ints(std::size_t i) const;
  std::optional<std::vector<double>> constant_doubles(std::size_t i) const;
  const Shape& output_shape(std::size_t i = 0) const;
  DType output_dtype(std::size_t i = 0) const;
  bool wants(std::size_t i) const { return i < node_->outputs.size() && !node_->outputs[i].empty(); }

  void define(std::size_t output, Value value);
  // output 0 = fn(position) with the inferred shape and type; `reads` is how costly its operands are.
  void define_map(std::function<Expr(const Position&)> at, double cost, std::size_t output = 0);

  // New variables, named after the dimension they run along where that has a name.
  Expr fresh_variable(std::int64_t extent, const std::string& hint = "i");
  std::vector<Expr> fresh_variables(const Shape& shape, const std::string& hint = "i");

  // Stores a value in a tensor of its own. `hint` becomes part of its name.
  Value materialize(const Value& value, const std::string& hint);
  // The same, but only where reading it `times` times would repeat much work.
  Value reread(const Value& value, int times, const std::string& hint);
  // A reduction: result has dimensions `kept`; body(kept position, reduced position).
  Value reduce(Combine combine, DType dtype, const Shape& kept, const Shape& reduced,
               const std::function<Expr(const Position&, const Position&)>& body, const std::string& hint);
  Value running(Combine combine, const Value& x, int axis, bool exclusive, bool reverse);
  // Adds native code that write the given new tensors (one per output of the node, empty: unwanted).
  void add_native_code(NativeCode code, const std::string& label);
  // Value of a fresh tensor that native code fill, for the output.
  std::string new_tensor(const std::string& hint, DType dtype, const Shape& shape);
  Value tensor_value(const std::string& tensor, const Shape& view) const;
  // The value as a plain tensor: lines of native code read pointers.
  Value plain(const Value& value, const std::string& hint);

  // The operators of a graph inside of the node, written out here; its results.
  std::vector<Value> run_body(const Graph& body, const std::vector<Value>& inputs);

  Program& program() { return program_; }

 private:
  void add_arguments();
  void add_constants();
  void lower_node(const Node& node);
  void store_outputs();
  // Keeps a value that a product's epilogue can write (graph/epilogues.h); notes the products.
  void store_behind_products(std::size_t first_stage);
  std::string unique_name(const std::string& hint);
  const TensorType& type_of(const std::string& value) const;

  const Problem& problem_;
  Program program_;
  std::map<std::string, Value> values_;
  std::map<std::string, const ConstantTensor*> constants_;
  std::map<std::string, int> uses_;
  std::set<std::string> names_;
  std::set<std::string> sums_;  // products, and loose stages behind them, that one operator at most reads
  const Node* node_ = nullptr;
  std::vector<std::shared_ptr<const Graph>> bodies_;  // that are being written out, innermost last
  std::vector<std::shared_ptr<const Graph>> kept_;    // nodes and constants of those written out
  struct BodyConstant {
    const ConstantTensor* tensor = nullptr;
    Value value;
  };
  std::map<std::pair<const Graph*, std::string>, BodyConstant> body_constants_;
};

// Any position in a tensor of that shape, for a look at what an element is made of.
Position probe_position(const Shape& shape);
// Nothing but elements of a tensor, at places that are sums of multiples of the dimensions.
bool only_moves(const Value& value);
// Neighbours along the last dimension come from places that are not neighbours: each brings a cache line.
bool reads_across(const Value& value);

Value constant_value(Lowering& lowering, const std::string& name, const ConstantTensor& tensor);

// Broadcasting: the position in an operand of the given shape for a position in the result.
Position broadcast(const Position& position, const Shape& operand);
std::int64_t normal_axis(std::int64_t axis, std::size_t rank);

// One function per operator; null where there is none.
using Lower = void (*)(Lowering&);
Lower find_lowering(const Node& node);
// The tables of the files lower_*.cc.
using LowerTable = std::map<std::string, Lower, std::less<>>;
const LowerTable& elementwise_table();
const LowerTable& movement_table();
const LowerTable& reduction_table();
const LowerTable& softmax_table();
const LowerTable& norm_table();
const LowerTable& window_table();
const LowerTable& contraction_table();
const LowerTable& choice_table();
const LowerTable& recurrent_table();
const LowerTable& control_table();
const LowerTable& optimizer_table();
const LowerTable& quantized_table();
const LowerTable& resize_table();
const LowerTable& sample_table();
const LowerTable& signal_table();

}  // namespace kforge::smith

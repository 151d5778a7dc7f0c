// Turns nodes into steps. The operators' files (op_*.cc) see the graph and the plan only through this.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "baseline/onednn/plan.h"

namespace kforge::onednn {

inline constexpr auto kF32 = dnnl::memory::data_type::f32;
inline constexpr auto kAny = dnnl::memory::format_tag::any;  // the layout is oneDNN's choice
inline constexpr auto kForward = dnnl::prop_kind::forward_inference;

// A oneDNN primitive with its operands.
struct Operand {
  int role;  // DNNL_ARG_SRC, ...
  dnnl::memory::desc layout;
  Tensor tensor;
};

class Builder {
 public:
  Builder(const BoundTask& task, Plan& plan) : task_(task), plan_(plan) {}
  void build();  // throws Unsupported

  const Graph& graph() const { return task_.graph; }

  // --- operands of the node under way
  bool has_input(const Node& node, std::size_t i) const {
    return i < node.inputs.size() && !node.inputs[i].empty();
  }
  bool wants_output(const Node& node, std::size_t i) const {
    return i < node.outputs.size() && !node.outputs[i].empty();
  }
  // In whatever layout it has; float16 and bfloat16 arguments as float32.
  Tensor input(const Node& node, std::size_t i);
  // As it is stored, for operators that only move elements and those that read narrow types themselves.
  const Tensor& raw_input(const Node& node, std::size_t i) const;
  Tensor plain_input(const Node& node, std::size_t i) { return plain(input(node, i)); }  // any strides
  Tensor dense_input(const Node& node, std::size_t i) { return dense(input(node, i)); }
  // Value known when the plan is made, or null.
  const ConstantTensor* constant_input(const Node& node, std::size_t i) const;
  std::vector<std::int64_t> constant_ints(const Node& node, std::size_t i) const;  // throws when not constant
  double constant_scalar(const Node& node, std::size_t i, double otherwise) const;  // absent: otherwise
  Shape shape_of(const std::string& value) const;
  DType held_dtype_of(const std::string& value) const;

  // --- results
  // Dense memory for output i: the argument's own where the graph ends there.
  Tensor output(const Node& node, std::size_t i);
  // The same in a type of the caller's choice: what only moves elements keeps theirs.
  Tensor output_as(const Node& node, std::size_t i, DType dtype);
  // In the argument's own type where the graph ends here in float16 or bfloat16, else as output().
  Tensor typed_output(const Node& node, std::size_t i);
  // The same, or `reuse`'s memory when nobody needs its content after this node. For elementwise operators
  // only.
  Tensor output_over(const Node& node, std::size_t i, const Tensor& reuse);
  bool ends_narrow(const Node& node, std::size_t i) const;  // the graph ends here in float16 or bfloat16
  // Output i is a view of another tensor, or lies in a blocked layout.
  void set_output(const Node& node, std::size_t i, Tensor tensor);
  bool is_graph_output(const std::string& value) const;
  // True when output i has only consumers that take blocked layouts.
  bool may_stay_blocked(const Node& node, std::size_t i) const;

  // --- memory
  Tensor temporary(DType dtype, const Shape& shape);
  Tensor temporary(const dnnl::memory::desc& layout, const Shape& shape);
  Tensor prepared(const dnnl::memory::desc& layout, const Shape& shape);
  // Content does not change between calls.
  bool fixed(const Tensor& tensor) const {
    return plan_.buffers_[static_cast<std::size_t>(tensor.buffer)].fixed;
  }

  // Steps that `make` adds run in prepare() when `source` is fixed.
  template <class Make>
  auto once_if_fixed(const Tensor& source, Make make) {
    bool before = std::exchange(preparing_, preparing_ || fixed(source));
    auto made = make();
    preparing_ = before;
    return made;
  }

  // --- steps
  void step(std::string what, const std::vector<Tensor>& touches, Run run);
  void primitive(const std::string& what, const dnnl::primitive& primitive, std::vector<Operand> operands);
  void copy(const Tensor& from, const Tensor& to);                              // any strides
  void convert(const std::string& what, const Tensor& from, const Tensor& to);  // REQUIRES: both dense
  void reorder(const Tensor& from, const Tensor& to);                           // at least one is blocked
  Tensor plain(const Tensor& tensor);
  Tensor dense(const Tensor& tensor);
  // In the given layout; packed once when the tensor is fixed.
  Tensor in_layout(const Tensor& tensor, const dnnl::memory::desc& layout);

  // The stored form of a float16, bfloat16 (or any) argument behind a value that is held as float32, or
  // nothing.
  const Tensor* stored_form(const Tensor& wide) const;

 private:
  bool takes_blocked(const Node& consumer, const std::string& value) const;
  void add_arguments();
  void add_constants();
  void find_targets();
  void count_uses();
  void finish_outputs();
  bool dies_here(const Tensor& tensor, const Node& node) const;
  int add_buffer(Buffer buffer);
  bool inout_is_safe(const BoundArgument& argument) const;
  Tensor widened(const std::string& name, const Tensor& stored);

  const BoundTask& task_;
  Plan& plan_;
  std::map<std::string, Tensor> values_;
  std::map<std::string, Tensor> targets_;        // where values that end in an argument go
  std::map<std::string, std::size_t> last_use_;  // node index
  std::map<std::string, Tensor> widened_;        // float32 forms of narrow values
  std::map<int, Tensor> stored_;                 // by buffer of the widened form
  std::map<std::string, Shape> shapes_;
  std::size_t node_ = 0;
  bool preparing_ = false;  // the node under way depends on params alone
  const Node* current_ = nullptr;
};

bool is_narrow(DType dtype);  // float16 or bfloat16

// True when `operand` has one element, or one per channel, of `whole` (batch, channel, ...).
bool is_channel_operand(const Shape& operand, const Shape& whole);

// One way to do an operator. Where there are several, each is run a few times on memory of its own when the
// plan is made, and the fastest is taken: what a careful user of the library would find out.
struct Way {
  std::function<double()> nanoseconds;
  std::function<void()> emit;
};
void emit_fastest(const std::vector<Way>& ways);
// Best of a few runs.
double probe(const std::function<void()>& run);
double probe_primitive(const dnnl::primitive& primitive,
                       const std::vector<std::pair<int, dnnl::memory::desc>>& operands);
// Zeroed memory shared by all probes; REQUIRES: used by one probe at a time, `index` tells its operands
// apart.
std::byte* probe_memory(std::size_t index, std::size_t bytes);
void release_probe_memory();

using Emit = void (*)(Builder&, const Node&);
// Null when the operator has no implementation.
Emit find_operator(const std::string& op);

}  // namespace kforge::onednn

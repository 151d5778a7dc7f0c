// exact_on_integers: follows, through the graph, how large whole numbers become and how fine. As long as
// every value (and every partial sum) is a multiple of some power of two and has at most 24 significant bits,
// fp32 is exact in any order of summation.
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "task/inputs.h"

namespace kforge {
namespace {

// Values are multiples of `quantum` (a power of two) with magnitude at most `most`.
struct Grid {
  double most = 0, quantum = 1;
};

double significant_limit(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p11;
    case DType::kBFloat16:
      return 0x1p8;
    case DType::kFloat32:
      return 0x1p24;
    default:
      return 0x1p53;
  }
}

bool is_one_of(const std::string& op, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, op) != list.end();
}

// The coarsest power of two that divides all values; nothing when they are finer than 2^-40.
std::optional<Grid> grid_of(const std::vector<double>& values) {
  Grid grid{0, 1};
  for (double value : values) {
    if (!std::isfinite(value)) return std::nullopt;
    grid.most = std::max(grid.most, std::fabs(value));
    while (value / grid.quantum != std::floor(value / grid.quantum)) {
      grid.quantum /= 2;
      if (grid.quantum < 0x1p-40) return std::nullopt;
    }
  }
  return grid;
}

class Follower {
 public:
  explicit Follower(const BoundTask& task) : task_(task), graph_(task.graph) {}

  bool exact() {
    for (const BoundArgument& argument : task_.arguments)
      if (argument.role != Role::kOutput && !add_argument(argument)) return false;
    for (const Initializer& initializer : graph_.initializers) {
      if (grids_.contains(initializer.name) || initializer.tensor.dtype == DType::kString) continue;
      // A constant that is no whole number spoils only what uses it.
      if (auto grid = grid_of(initializer.tensor.as_double())) grids_[initializer.name] = *grid;
    }
    return std::ranges::all_of(graph_.nodes, [&](const Node& node) { return follow(node); });
  }

 private:
  bool add_argument(const BoundArgument& argument) {
    using Kind = Distribution::Kind;
    const Distribution& d = argument.distribution;
    switch (d.kind) {
      case Kind::kProbability:
      case Kind::kLogProbability:
        return false;
      case Kind::kInteger:
        grids_[argument.name] = {std::max(std::fabs(d.a), std::fabs(d.b)), 1};
        return true;
      case Kind::kSigns:
      case Kind::kMask:
        grids_[argument.name] = {1, 1};
        return true;
      default:
        grids_[argument.name] = {4, 1};
        return true;
    }
  }

  std::optional<Grid> grid(const Node& node, std::size_t input) const {
    if (input >= node.inputs.size() || node.inputs[input].empty()) return Grid{0, 1};
    auto found = grids_.find(node.inputs[input]);
    return found == grids_.end() ? std::nullopt : std::optional(found->second);
  }

  double extent(const std::string& value, std::int64_t axis) const {
    auto type = graph_.types.find(value);
    if (type == graph_.types.end() || type->second.dims.empty()) return 1;
    auto rank = static_cast<std::int64_t>(type->second.dims.size());
    if (axis < 0) axis += rank;
    return axis >= 0 && axis < rank ? static_cast<double>(type->second.dims[axis].value) : 1;
  }

  double elements(const std::string& value) const {
    auto type = graph_.types.find(value);
    return type == graph_.types.end() ? 1 : static_cast<double>(element_count(type->second.shape()));
  }

  double largest_extent(const std::string& value) const {
    double most = 1;
    for (const Dim& dim : graph_.types.at(value).dims) most = std::max(most, static_cast<double>(dim.value));
    return most;
  }

  bool set(const Node& node, Grid grid) {
    for (const std::string& output : node.outputs) {
      if (output.empty()) continue;
      auto type = graph_.types.find(output);
      if (type == graph_.types.end()) return false;
      if (grid.most / grid.quantum >= significant_limit(type->second.dtype)) return false;
      grids_[output] = grid;
    }
    return true;
  }

  // The largest and the finest of the inputs from `first` on.
  std::optional<Grid> joined(const Node& node, std::size_t first) const {
    Grid out{0, 1};
    for (std::size_t i = first; i < node.inputs.size(); ++i) {
      auto one = grid(node, i);
      if (!one) return std::nullopt;
      out = {std::max(out.most, one->most), std::min(out.quantum, one->quantum)};
    }
    return out;
  }

  bool sum_of_products(const Node& node, double terms, std::size_t bias) {
    auto a = grid(node, 0), b = grid(node, 1), c = grid(node, bias);
    if (!a || !b || !c) return false;
    double quantum = std::min(a->quantum * b->quantum, c->quantum);
    return set(node, {terms * a->most * b->most + c->most, quantum});
  }

  bool summed(const Node& node, double terms) {
    auto x = grid(node, 0);
    return x && set(node, {terms * x->most, x->quantum});
  }

  // A mean is exact only over a power of two of terms.
  bool averaged(const Node& node, double terms) {
    auto x = grid(node, 0);
    if (!x || std::exp2(std::round(std::log2(terms))) != terms) return false;
    // The sum itself must fit too; it is `terms` times coarser and larger.
    return set(node, {x->most, x->quantum / terms});
  }

  double conv_terms(const Node& node) const {
    double terms = 1;
    auto type = graph_.types.find(node.inputs[1]);
    if (type == graph_.types.end()) return INFINITY;
    Shape shape = type->second.shape();
    std::size_t first = node.op == "ConvTranspose" ? 2 : 1;
    for (std::size_t i = first; i < shape.size(); ++i) terms *= static_cast<double>(shape[i]);
    if (node.op == "ConvTranspose" && !shape.empty()) terms *= static_cast<double>(shape[0]);
    return terms;
  }

  double window(const Node& node) const {
    double count = 1;
    for (std::int64_t extent : node.ints_attr("kernel_shape")) count *= static_cast<double>(extent);
    return count;
  }

  double reduced_terms(const Node& node) const {
    double out = std::max(1.0, elements(node.outputs[0]));
    return std::max(1.0, elements(node.inputs[0]) / out);
  }

  bool follow(const Node& node) {
    const std::string& op = node.op;
    if (op == "EyeLike") return set(node, {1, 1});
    if (op == "ConstantOfShape") {
      const ConstantTensor* value = node.tensor_attr("value");
      auto filled = value ? grid_of(value->as_double()) : Grid{0, 1};
      return filled && set(node, *filled);
    }
    if (op == "Range") {
      auto bounds = joined(node, 0);
      return bounds && set(node, *bounds);
    }
    if (is_one_of(
            op, {"Reshape",  "Squeeze",        "Unsqueeze",     "Flatten",      "Identity",  "Transpose",
                 "Split",    "Slice",          "Expand",        "Tile",         "Gather",    "GatherElements",
                 "GatherND", "Trilu",          "DepthToSpace",  "SpaceToDepth", "Relu",      "Abs",
                 "Neg",      "MaxPool",        "GlobalMaxPool", "ReduceMax",    "ReduceMin", "Dropout",
                 "Compress", "ReverseSequence"})) {
      auto x = grid(node, 0);
      return x && set(node, *x);
    }
    if (is_one_of(op, {"Cast", "CastLike", "Floor", "Ceil", "Round"})) {
      auto x = grid(node, 0);
      if (!x) return false;
      bool whole = !op.starts_with("Cast") || !is_float(graph_.types.at(node.outputs[0]).dtype);
      return set(node, {x->most + (whole ? 1 : 0), whole ? std::max(1.0, x->quantum) : x->quantum});
    }
    if (is_one_of(op, {"Concat", "Max", "Min"})) {
      auto all = joined(node, 0);
      return all && set(node, *all);
    }
    if (is_one_of(op, {"Where", "Clip", "Pad", "ScatterElements", "ScatterND"})) {
      if (op.starts_with("Scatter") && node.string_attr("reduction", "none") != "none") return false;
      auto all = joined(node, op == "Where" ? 1 : 0);
      return all && set(node, *all);
    }
    if (is_one_of(op, {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or", "Xor", "Not",
                       "Sign", "IsNaN", "IsInf", "ArgMax", "ArgMin", "OneHot"})) {
      if (!joined(node, 0)) return false;
      return set(node, {op.starts_with("Arg") ? extent(node.inputs[0], node.int_attr("axis", 0)) : 1, 1});
    }
    if (op == "TopK") {
      auto x = grid(node, 0);
      return x &&
             set(node, {std::max(x->most, extent(node.inputs[0], node.int_attr("axis", -1))), x->quantum});
    }
    if (op == "Add" || op == "Sub" || op == "Sum") {
      Grid out{0, 1};
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        auto one = grid(node, i);
        if (!one) return false;
        out = {out.most + one->most, std::min(out.quantum, one->quantum)};
      }
      return set(node, out);
    }
    if (op == "Mul") {
      auto a = grid(node, 0), b = grid(node, 1);
      return a && b && set(node, {a->most * b->most, a->quantum * b->quantum});
    }
    if (op == "MatMul") return sum_of_products(node, extent(node.inputs[0], -1), node.inputs.size());
    if (op == "Gemm") {
      if (node.float_attr("alpha", 1) != 1 || node.float_attr("beta", 1) != 1) return false;
      return sum_of_products(node, extent(node.inputs[0], node.int_attr("transA", 0) ? 0 : 1), 2);
    }
    if (op == "Conv" || op == "ConvTranspose") return sum_of_products(node, conv_terms(node), 2);
    if (op == "ReduceSum" || op == "ReduceL1") return summed(node, reduced_terms(node));
    if (op == "CumSum") return summed(node, largest_extent(node.inputs[0]));
    if (op == "ReduceSumSquare") {
      auto x = grid(node, 0);
      return x && set(node, {reduced_terms(node) * x->most * x->most, x->quantum * x->quantum});
    }
    if (op == "ReduceMean" || op == "GlobalAveragePool") return averaged(node, reduced_terms(node));
    // Padded windows average over fewer elements unless padding counts.
    if (op == "AveragePool" && (node.ints_attr("pads").empty() || node.int_attr("count_include_pad", 0)) &&
        node.int_attr("ceil_mode", 0) == 0 && node.string_attr("auto_pad", "NOTSET") == "NOTSET")
      return averaged(node, window(node));
    return false;
  }

  const BoundTask& task_;
  const Graph& graph_;
  std::unordered_map<std::string, Grid> grids_;
};

}  // namespace

bool exact_on_integers(const BoundTask& task) { return Follower(task).exact(); }

}  // namespace kforge

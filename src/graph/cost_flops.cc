#include "graph/cost_flops.h"

#include <algorithm>
#include <unordered_map>

#include "graph/cost_bytes.h"
#include "graph/einsum.h"

namespace kforge {
namespace {

// Operations per element of the first input.
const std::unordered_map<std::string_view, double>& per_input_element() {
  static const std::unordered_map<std::string_view, double> table = {
      {"ReduceSum", 1},
      {"ReduceMean", 1},
      {"ReduceMax", 1},
      {"ReduceMin", 1},
      {"ReduceProd", 1},
      {"ReduceL1", 2},
      {"ReduceL2", 2},
      {"ReduceSumSquare", 2},
      {"ReduceLogSum", 1},
      {"ReduceLogSumExp", 4},
      {"ArgMax", 1},
      {"ArgMin", 1},
      {"TopK", 1},
      {"CumSum", 1},
      {"CumProd", 1},
      {"GlobalAveragePool", 1},
      {"GlobalMaxPool", 1},
      {"GlobalLpPool", 2},
      {"Softmax", 5},
      {"LogSoftmax", 5},
      {"Hardmax", 2},
      {"LpNormalization", 3},
      {"BatchNormalization", 2},
      {"InstanceNormalization", 7},
      {"LayerNormalization", 7},
      {"GroupNormalization", 7},
      {"RMSNormalization", 4},
      {"MeanVarianceNormalization", 6},
      {"SoftmaxCrossEntropyLoss", 5},
      {"Det", 1},
  };
  return table;
}

// Operations per element of the first output, where it is not 1.
const std::unordered_map<std::string_view, double>& per_output_element() {
  static const std::unordered_map<std::string_view, double> table = [] {
    std::unordered_map<std::string_view, double> rows = {
        {"Gelu", 5}, {"Mish", 3}, {"Swish", 3},    {"HardSwish", 4}, {"HardSigmoid", 2}, {"Celu", 3},
        {"Elu", 2},  {"Selu", 3}, {"Softsign", 2}, {"Softplus", 2},  {"Sigmoid", 3},     {"Clip", 2}};
    for (std::string_view moving : {"Reshape",
                                    "Squeeze",
                                    "Unsqueeze",
                                    "Flatten",
                                    "Identity",
                                    "Shape",
                                    "Size",
                                    "Constant",
                                    "Dims",
                                    "Transpose",
                                    "Concat",
                                    "Split",
                                    "Slice",
                                    "Pad",
                                    "Expand",
                                    "Tile",
                                    "Gather",
                                    "GatherElements",
                                    "GatherND",
                                    "ScatterElements",
                                    "ScatterND",
                                    "Cast",
                                    "CastLike",
                                    "Trilu",
                                    "DepthToSpace",
                                    "SpaceToDepth",
                                    "ReverseSequence",
                                    "OneHot",
                                    "NonZero",
                                    "Range",
                                    "EyeLike",
                                    "Compress",
                                    "Unique",
                                    "ConstantOfShape",
                                    "Dropout",
                                    "MaxUnpool",
                                    "RandomNormal",
                                    "RandomUniform",
                                    "NegativeLogLikelihoodLoss"})
      rows[moving] = 0;
    return rows;
  }();
  return table;
}

class Counter {
 public:
  Counter(const Graph& bound, const Node& node) : bound_(bound), node_(node) {}

  double count() {
    const std::string& op = node_.op;
    if (op == "MatMul" || op == "MatMulInteger") return matmul(0);
    if (op == "QLinearMatMul") return matmul(0);
    if (op == "Gemm") return gemm();
    if (op == "Einsum") return einsum();
    if (op == "Conv" || op == "ConvInteger" || op == "DeformConv") return conv(1);
    if (op == "QLinearConv") return conv(3);
    if (op == "ConvTranspose") return conv_transpose();
    if (op == "MaxPool" || op == "AveragePool" || op == "LpPool")
      return output() * product(node_.ints_attr("kernel_shape"));
    if (op == "LSTM") return recurrent(4);
    if (op == "GRU") return recurrent(3);
    if (op == "RNN") return recurrent(1);
    if (op == "LRN") return output() * static_cast<double>(2 * node_.int_attr("size", 1) + 4);
    if (op == "BatchNormalization" && node_.int_attr("training_mode", 0)) return 7 * input(0);
    if (op == "ScatterElements" || op == "ScatterND")
      return node_.string_attr("reduction", "none") == "none" ? 0 : input(2);
    if (op == "NegativeLogLikelihoodLoss") return input(1);
    if (op == "Resize") return node_.string_attr("mode", "nearest") == "nearest" ? 0 : resize();
    if (op == "Sum" || op == "Mean" || op == "Max" || op == "Min")
      return output() * std::max(1.0, static_cast<double>(node_.inputs.size()) - (op == "Mean" ? 0 : 1));
    if (auto row = per_input_element().find(op); row != per_input_element().end())
      return row->second * input(0);
    if (auto row = per_output_element().find(op); row != per_output_element().end())
      return row->second * output();
    return output();
  }

 private:
  double input(std::size_t i) const {
    return i < node_.inputs.size() ? value_elements(bound_, node_.inputs[i]) : 0;
  }
  double output() const { return node_.outputs.empty() ? 0 : value_elements(bound_, node_.outputs[0]); }

  Shape shape(std::size_t i) const {
    if (i >= node_.inputs.size()) return {};
    auto type = bound_.types.find(node_.inputs[i]);
    return type == bound_.types.end() || !type->second.concrete() ? Shape{} : type->second.shape();
  }

  static double product(const std::vector<std::int64_t>& values, std::size_t from = 0) {
    double out = 1;
    for (std::size_t i = from; i < values.size(); ++i) out *= static_cast<double>(values[i]);
    return out;
  }

  double matmul(std::size_t left) const {
    Shape a = shape(left);
    return a.empty() ? 0 : 2 * output() * static_cast<double>(a.back());
  }

  double gemm() const {
    Shape a = shape(0);
    if (a.size() != 2) return 0;
    double inner = static_cast<double>(a[node_.int_attr("transA", 0) ? 0 : 1]);
    double extra = (node_.float_attr("alpha", 1) != 1) + (input(2) > 0) +
                   (input(2) > 0 && node_.float_attr("beta", 1) != 1);
    return output() * (2 * inner + extra);
  }

  // Every distinct label is a loop; each operand after the first adds a multiplication, summed labels an
  // addition.
  double einsum() const {
    std::vector<Shape> shapes;
    std::vector<std::int64_t> ranks;
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      shapes.push_back(shape(i));
      ranks.push_back(static_cast<std::int64_t>(shapes.back().size()));
    }
    const auto equation = read_einsum(node_.string_attr("equation", ""), ranks);
    if (!equation) return 0;
    double loops = 1;
    for (const auto& [label, extent] : einsum_extents(*equation, shapes))
      loops *= static_cast<double>(extent);
    double multiplications = static_cast<double>(node_.inputs.size()) - 1;
    return loops * (multiplications + (loops > output() ? 1 : 0));
  }

  double conv(std::size_t weight) const {
    Shape w = shape(weight);
    if (w.size() < 3) return 0;
    bool bias = weight == 1 ? input(2) > 0 : input(8) > 0;
    return output() * (2 * product(w, 1) + (bias ? 1 : 0));
  }

  double conv_transpose() const {
    Shape w = shape(1);
    if (w.size() < 3) return 0;
    return 2 * input(0) * product(w, 1) + (input(2) > 0 ? output() : 0);
  }

  double recurrent(double gates) const {
    Shape x = shape(0), r = shape(2), w = shape(1);
    if (x.size() != 3 || r.size() != 3 || w.size() != 3) return 0;
    double steps = static_cast<double>(x[0]) * static_cast<double>(x[1]);  // time and batch, in either layout
    double hidden = static_cast<double>(r[2]), features = static_cast<double>(w[2]),
           directions = static_cast<double>(w[0]);
    return directions * steps * gates * hidden * (2 * features + 2 * hidden + 4);
  }

  double resize() const {
    double taps = node_.string_attr("mode", "nearest") == "cubic" ? 4 : 2;
    Shape x = shape(0);
    double all = 1;
    for (std::size_t i = 2; i < x.size(); ++i) all *= taps;
    return output() * 2 * all;
  }

  const Graph& bound_;
  const Node& node_;
};

}  // namespace

double node_flops(const Graph& bound, const Node& node) { return Counter(bound, node).count(); }

}  // namespace kforge

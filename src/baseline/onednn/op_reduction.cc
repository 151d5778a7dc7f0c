// Reductions, extremes with their places, running sums, losses. oneDNN's reduction is reference code, so all
// of these are loops.
#include <algorithm>
#include <cmath>

#include "baseline/onednn/operators.h"

namespace kforge::onednn {
namespace {

using loops::Reduce;
using loops::Unary;

struct Rows {
  std::int64_t outer, n, inner;
};

Rows rows_of(const Shape& shape, std::int64_t axis) {
  auto a = static_cast<std::size_t>(normal_axis(axis, shape.size()));
  return {product(shape, 0, a), shape[a], product(shape, a + 1, shape.size())};
}

// The axes of a reduction: attribute or, from opset 13 (ReduceSum) and 18 on, an input.
std::vector<bool> reduced_axes(Builder& b, const Node& node, std::size_t rank) {
  std::vector<std::int64_t> axes = node.ints_attr("axes");
  if (b.has_input(node, 1)) axes = b.constant_ints(node, 1);
  bool none = axes.empty() && node.int_attr("noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(rank, axes.empty() && !none);
  for (std::int64_t axis : axes) reduced[static_cast<std::size_t>(normal_axis(axis, rank))] = true;
  return reduced;
}

// Runs of reduced dimensions are taken away from the innermost one outward, each as [outer, n, inner]; after
// the first the partial results are summed (or multiplied, or compared) plainly.
void emit_runs(Builder& b, Reduce first, Reduce later, Tensor x, std::vector<bool> reduced, const Tensor& y) {
  Shape shape = x.shape;
  // Neighbouring dimensions of the same kind count as one.
  Shape sizes;
  std::vector<bool> kinds;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (!kinds.empty() && kinds.back() == reduced[d])
      sizes.back() *= shape[d];
    else
      sizes.push_back(shape[d]), kinds.push_back(reduced[d]);
  }
  auto runs = std::ranges::count(kinds, true);
  if (runs == 0) {  // nothing to add up, but a sum of squares still squares
    sizes.push_back(1);
    kinds.push_back(true);
    runs = 1;
  }
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (!kinds[d]) continue;
    Rows r{product(sizes, 0, d), sizes[d], product(sizes, d + 1, sizes.size())};
    sizes[d] = 1;
    Tensor to = --runs == 0 ? y : b.temporary(DType::kFloat32, {r.outer, r.inner});
    b.step("reduction loop", {x, to}, [=](const Pointers& p) {
      loops::loops().reduce(first, p.get<float>(x), p.get<float>(to), r.outer, r.n, r.inner);
    });
    x = to;
    first = later;
  }
}

void apply(Builder& b, const Tensor& y, Unary op, float a = 0) {
  b.step("loop", {y}, [=, n = y.count()](const Pointers& p) {
    loops::loops().unary(op, a, 0, p.get<float>(y), p.get<float>(y), n);
  });
}

void emit_reduce(Builder& b, const Node& node) {
  Tensor x = b.dense_input(node, 0);
  if (x.dtype != DType::kFloat32)
    throw Unsupported(std::string(name_of(x.dtype)) + " reductions are not implemented");
  std::vector<bool> reduced = reduced_axes(b, node, x.shape.size());
  Tensor y = b.output(node, 0);
  const std::string kind = node.op.substr(6);
  if (kind == "Max") return emit_runs(b, Reduce::kMax, Reduce::kMax, x, reduced, y);
  if (kind == "Min") return emit_runs(b, Reduce::kMin, Reduce::kMin, x, reduced, y);
  if (kind == "Prod") return emit_runs(b, Reduce::kProd, Reduce::kProd, x, reduced, y);
  if (kind == "L1") return emit_runs(b, Reduce::kSumAbs, Reduce::kSum, x, reduced, y);
  if (kind == "SumSquare") return emit_runs(b, Reduce::kSumSquare, Reduce::kSum, x, reduced, y);
  // The logarithm of sums of exponentials is again such a logarithm, so runs may follow each other here as
  // well.
  if (kind == "LogSumExp") return emit_runs(b, Reduce::kLogSumExp, Reduce::kLogSumExp, x, reduced, y);
  if (kind == "L2") {
    emit_runs(b, Reduce::kSumSquare, Reduce::kSum, x, reduced, y);
    return apply(b, y, Unary::kSqrt);
  }
  emit_runs(b, Reduce::kSum, Reduce::kSum, x, reduced, y);
  if (kind == "Mean")
    apply(b, y, Unary::kLinear, static_cast<float>(y.count()) / static_cast<float>(x.count()));
  if (kind == "LogSum") apply(b, y, Unary::kLog);
}

void emit_arg(Builder& b, const Node& node) {
  Tensor x = b.dense_input(node, 0), y = b.output(node, 0);
  if (x.dtype != DType::kFloat32) throw Unsupported("whole-number extremes are not implemented");
  Rows r = rows_of(x.shape, node.int_attr("axis", 0));
  bool max = node.op == "ArgMax", last = node.int_attr("select_last_index", 0) != 0;
  b.step("loop", {x, y}, [=](const Pointers& p) {
    loops::loops().arg_extreme(max, last, p.get<float>(x), p.get<long long>(y), r.outer, r.n, r.inner);
  });
}

void emit_topk(Builder& b, const Node& node) {
  Tensor x = b.dense_input(node, 0);
  if (x.dtype != DType::kFloat32) throw Unsupported("whole-number TopK is not implemented");
  Rows r = rows_of(x.shape, node.int_attr("axis", -1));
  std::int64_t k = b.constant_ints(node, 1).at(0);
  bool largest = node.int_attr("largest", 1) != 0;
  if (k < 0 || k > r.n) throw Unsupported("k lies outside the axis");
  Shape shape = b.shape_of(node.outputs[0].empty() ? node.outputs[1] : node.outputs[0]);
  Tensor values = b.wants_output(node, 0) ? b.output(node, 0) : b.temporary(DType::kFloat32, shape);
  Tensor where = b.wants_output(node, 1) ? b.output(node, 1) : b.temporary(DType::kInt64, shape);
  b.step("loop", {x, values, where}, [=](const Pointers& p) {
    loops::loops().topk(largest, p.get<float>(x), p.get<float>(values), p.get<long long>(where), r.outer, r.n,
                        r.inner, k);
  });
}

void emit_scan(Builder& b, const Node& node) {
  Tensor x = b.dense_input(node, 0);
  if (x.dtype != DType::kFloat32) throw Unsupported("whole-number running sums are not implemented");
  Tensor y = b.output(node, 0);
  Rows r = rows_of(x.shape, b.constant_ints(node, 1).at(0));
  bool product = node.op == "CumProd", exclusive = node.int_attr("exclusive", 0) != 0,
       reverse = node.int_attr("reverse", 0) != 0;
  b.step("loop", {x, y}, [=](const Pointers& p) {
    loops::loops().scan(product, exclusive, reverse, p.get<float>(x), p.get<float>(y), r.outer, r.n, r.inner);
  });
}

// Picks -log_probability[label] for each position, weighted, and sums or averages. Small beside the softmax.
struct Loss {
  Tensor logs, labels, y;
  std::optional<Tensor> weights;
  std::int64_t batch, classes, inner, ignore;
  bool has_ignore;
  std::string reduction;
};

template <class Label>
void run_loss(const Loss& loss, const Pointers& p) {
  const float* logs = p.get<float>(loss.logs);
  const Label* labels = p.get<Label>(loss.labels);
  const float* weights = loss.weights ? p.get<float>(*loss.weights) : nullptr;
  float* y = p.get<float>(loss.y);
  double total = 0, weight_sum = 0;
  for (std::int64_t n = 0; n < loss.batch; ++n)
    for (std::int64_t i = 0; i < loss.inner; ++i) {
      std::int64_t label = labels[n * loss.inner + i];
      bool skip = (loss.has_ignore && label == loss.ignore) || label < 0 || label >= loss.classes;
      float weight = skip ? 0.0f : weights ? weights[label] : 1.0f;
      float value = skip ? 0.0f : -logs[(n * loss.classes + label) * loss.inner + i] * weight;
      if (loss.reduction == "none") y[n * loss.inner + i] = value;
      total += value;
      weight_sum += weight;
    }
  if (loss.reduction == "sum") *y = static_cast<float>(total);
  if (loss.reduction == "mean") *y = static_cast<float>(total / weight_sum);
}

void emit_loss(Builder& b, const Node& node) {
  Loss loss;
  Tensor x = b.dense_input(node, 0);
  loss.labels = b.dense_input(node, 1);
  if (b.has_input(node, 2)) loss.weights = b.dense_input(node, 2);
  Rows r = rows_of(x.shape, 1);
  loss.batch = r.outer, loss.classes = r.n, loss.inner = r.inner;
  loss.has_ignore = node.has_attr("ignore_index");
  loss.ignore = node.int_attr("ignore_index", 0);
  loss.reduction = node.string_attr("reduction", "mean");
  loss.logs = x;
  if (node.op == "SoftmaxCrossEntropyLoss") {
    Tensor logs = b.wants_output(node, 1) ? b.output(node, 1) : b.temporary(DType::kFloat32, x.shape);
    b.step("log-softmax loop", {x, logs}, [=](const Pointers& p) {
      loops::loops().softmax(true, p.get<float>(x), p.get<float>(logs), r.outer, r.n, r.inner);
    });
    loss.logs = logs;
  }
  loss.y = b.output(node, 0);
  std::vector<Tensor> touches = {loss.logs, loss.labels, loss.y};
  if (loss.weights) touches.push_back(*loss.weights);
  bool wide = loss.labels.dtype == DType::kInt64;
  b.step("loss loop", touches, [=](const Pointers& p) {
    wide ? run_loss<std::int64_t>(loss, p) : run_loss<std::int32_t>(loss, p);
  });
}

}  // namespace

const OperatorTable& reduction_operators() {
  static const OperatorTable kTable = [] {
    OperatorTable table = {{"ArgMax", emit_arg},
                           {"ArgMin", emit_arg},
                           {"TopK", emit_topk},
                           {"CumSum", emit_scan},
                           {"CumProd", emit_scan},
                           {"NegativeLogLikelihoodLoss", emit_loss},
                           {"SoftmaxCrossEntropyLoss", emit_loss}};
    for (const char* kind :
         {"Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"})
      table[std::string("Reduce") + kind] = emit_reduce;
    return table;
  }();
  return kTable;
}

}  // namespace kforge::onednn

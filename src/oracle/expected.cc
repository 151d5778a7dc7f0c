#include "oracle/expected.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/hash.h"
#include "oracle/continuity.h"
#include "oracle/expected_file.h"
#include "oracle/interruption.h"
#include "oracle/made_inputs.h"
#include "oracle/oracle.h"
#include "oracle/other_rounding.h"
#include "oracle/parallel.h"
#include "oracle/rounding.h"
#include "oracle/tensor.h"

namespace kforge {
namespace {

// Part of every cache key: raise it when the oracle's values change.
constexpr std::string_view kOracleVersion = "6";
// To write and read again, checksums included.
constexpr double kDiskSecondsPerByte = 8e-9;
// A result that jumps (Floor) says nothing about rounding. So another rounding counts up to this multiple of
// what the yardstick itself showed. Equal values are the exception: what a normalisation makes of their
// variance of zero is nothing but rounding, and the yardstick, whose sums of equal values are often exact,
// shows none of it.
constexpr double kMostOverYardstick = 64;
constexpr std::int64_t kFewRows = 64;

std::string cache_key(const BoundTask& task, InputKind kind, std::uint64_t seed) {
  Hasher hasher;
  hasher.add("expected outputs")
      .add(kOracleVersion)
      .add(task.key())
      .add(name_of(kind))
      .add(std::to_string(seed));
  return hasher.hex();
}

// What ArgMax, ArgMin or TopK chose the indices of an output from.
struct IndexChoice {
  std::string values;  // name of the operator's input
  std::int64_t axis = 0;
};

const Node* producer_of(const Graph& graph, const std::string& value) {
  for (const Node& node : graph.nodes)
    if (std::find(node.outputs.begin(), node.outputs.end(), value) != node.outputs.end()) return &node;
  return nullptr;
}

// Operators behind the choice that keep the order of its indices.
bool keeps_order(const Node& node) {
  static constexpr std::string_view kOps[] = {"Identity",  "Cast",    "Squeeze",
                                              "Unsqueeze", "Reshape", "Flatten"};
  return std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps);
}

std::optional<IndexChoice> index_choice(const Graph& graph, std::string value) {
  const Node* node = producer_of(graph, value);
  while (node && keeps_order(*node) && !node->inputs.empty()) {
    value = node->inputs[0];
    node = producer_of(graph, value);
  }
  if (!node || node->inputs.empty()) return std::nullopt;
  if (node->op == "ArgMax" || node->op == "ArgMin")
    return IndexChoice{node->inputs[0], node->int_attr("axis", 0)};
  if (node->op == "TopK" && node->outputs.size() > 1 && node->outputs[1] == value)
    return IndexChoice{node->inputs[0], node->int_attr("axis", -1)};
  return std::nullopt;
}

// Below this, elements of a tensor do not say how much its values vary.
constexpr std::int64_t kFewElements = 64;

struct Difference {
  double sum = 0, square_sum = 0, worst = 0, worst_rel = 0;
  std::int64_t finite = 0;
  bool yardstick_finite = true;
};

Difference difference_of(const std::vector<double>& truth, const std::vector<float>& yardstick, DType dtype,
                         int threads) {
  constexpr std::int64_t kRange = 1 << 18;
  const auto count = static_cast<std::int64_t>(truth.size());
  const bool narrow = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  std::vector<Difference> parts(static_cast<std::size_t>((count + kRange - 1) / kRange));
  parallel_for(threads, count, kRange, [&](std::int64_t begin, std::int64_t end) {
    Difference part;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      if (!std::isfinite(truth[i])) continue;
      part.sum += truth[i];
      part.square_sum += truth[i] * truth[i];
      ++part.finite;
      if (!std::isfinite(yardstick[i])) {
        part.yardstick_finite = false;
        continue;
      }
      double error = std::fabs(static_cast<double>(yardstick[i]) - truth[i]);
      // The graph itself may have rounded both of them, to neighbours.
      if (narrow && round_to(dtype, truth[i]) == truth[i]) error -= rounding_allowance(dtype, truth[i]);
      part.worst = std::max(part.worst, error);
      if (truth[i] >= kLeastRelative) part.worst_rel = std::max(part.worst_rel, error / truth[i]);
    }
    parts[static_cast<std::size_t>(begin / kRange)] = part;
  });
  Difference whole;
  for (const Difference& part : parts) {
    whole.sum += part.sum;
    whole.square_sum += part.square_sum;
    whole.finite += part.finite;
    whole.worst = std::max(whole.worst, part.worst);
    whole.worst_rel = std::max(whole.worst_rel, part.worst_rel);
    whole.yardstick_finite &= part.yardstick_finite;
  }
  return whole;
}

std::vector<float> rounded(const std::vector<double>& values, int threads) {
  std::vector<float> result(values.size());
  parallel_for(threads, static_cast<std::int64_t>(values.size()), 1 << 18,
               [&](std::int64_t begin, std::int64_t end) {
                 for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
                   result[i] = static_cast<float>(values[i]);
               });
  return result;
}

// Whether an output is made of exponentials alone, so that each of its values is right or wrong by a factor.
bool exponential(const Graph& graph, const std::string& output) {
  const Node* node = producer_of(graph, output);
  return node && node->domain.empty() && (node->op == "Softmax" || node->op == "Exp");
}

// A result of the yardstick: floats again, which is what they were. Large tensors take up much of the memory
// of this process; three copies of a result are alive at once, and no more.
using YardstickValues = std::vector<float>;

std::vector<YardstickValues> yardstick_values(std::vector<OracleTensor> results, int threads) {
  std::vector<YardstickValues> values;
  for (OracleTensor& result : results) {
    values.emplace_back();
    if (auto* doubles = std::get_if<std::vector<double>>(&result.values))
      values.back() = rounded(*doubles, threads);
    result.values = {};
  }
  return values;
}

// One output from its truth and its yardstick.
Result<ExpectedOutput> join(const std::string& name, OracleTensor truth, YardstickValues yardstick,
                            bool exponential, int threads, bool& yardstick_finite) {
  ExpectedOutput output{.name = name, .dtype = truth.dtype, .shape = truth.shape};
  if (auto* ints = std::get_if<std::vector<std::int64_t>>(&truth.values)) {
    output.ints = std::move(*ints);
    return output;
  }
  auto* values = std::get_if<std::vector<double>>(&truth.values);
  if (!values) return fail("output {} is a tensor of strings, which no kernel can compute", name);
  if (yardstick.size() != values->size())
    return fail("output {} has another shape in fp32 than in fp64: its shape depends on rounded values",
                name);
  const Difference difference = difference_of(*values, yardstick, truth.dtype, threads);
  yardstick = {};
  const auto finite = static_cast<double>(std::max<std::int64_t>(difference.finite, 1));
  output.rms = output.deviation = std::sqrt(difference.square_sum / finite);
  if (difference.finite >= kFewElements) {
    output.mean = difference.sum / finite;
    output.deviation = std::sqrt(std::max(0.0, difference.square_sum / finite - output.mean * output.mean));
  }
  output.yardstick_worst_abs = difference.worst;
  if (exponential) output.yardstick_worst_rel = difference.worst_rel;
  yardstick_finite &= difference.yardstick_finite;
  output.values = rounded(*values, threads);
  if (truth.dtype == DType::kFloat64) output.doubles = std::move(*values);
  return output;
}

Result<Expected> compute(const BoundTask& task, const InputChoice& params, const InputChoice& rest,
                         int threads) {
  // Values that indices are chosen from become outputs of the graph as well, after its own.
  Graph graph = task.graph;
  const std::size_t own_outputs = graph.outputs.size();
  std::vector<std::optional<IndexChoice>> choices;
  for (std::size_t i = 0; i < own_outputs; ++i) {
    choices.push_back(index_choice(graph, graph.outputs[i].name));
    if (choices.back()) graph.outputs.push_back({choices.back()->values, {}});
  }

  const MadeInputs inputs = make_inputs(task, params, rest);
  bool long_sums = false;
  KF_TRY(auto plain, run_oracle(graph, inputs.views, Precision::kFp32, threads, &long_sums));
  std::vector<YardstickValues> yardstick = yardstick_values(std::move(plain), threads);
  KF_TRY(auto truth, run_oracle(graph, inputs.views, Precision::kFp64, threads));
  // Operators that subtract a mean: with one row the yardstick rounds one mean, and may be lucky with it.
  const bool equal = rest.kind == InputKind::kEqual, shifted = rest.kind == InputKind::kShifted;
  std::vector<double> drawn(truth.size());
  if (few_values(inputs.views, truth))
    drawn = errors_of_other_roundings(graph, inputs.views, truth, threads, equal || shifted);

  Expected expected;
  for (std::size_t i = 0; i < own_outputs; ++i) {
    KF_TRY(ExpectedOutput output,
           join(graph.outputs[i].name, std::move(truth[i]), std::move(yardstick[i]),
                exponential(graph, graph.outputs[i].name), threads, expected.yardstick_finite));
    double& worst = output.yardstick_worst_abs;
    worst = std::max(worst, equal ? drawn[i] : std::min(drawn[i], kMostOverYardstick * worst));
    output.long_sums = long_sums;
    expected.outputs.push_back(std::move(output));
  }
  for (std::size_t i = 0, next = own_outputs; i < own_outputs; ++i) {
    if (!choices[i]) continue;
    bool ignored = true;
    const auto rank = static_cast<std::int64_t>(truth[next].shape.size());
    const std::int64_t axis = choices[i]->axis < 0 ? choices[i]->axis + rank : choices[i]->axis;
    KF_TRY(ExpectedOutput source, join(choices[i]->values, std::move(truth[next]), std::move(yardstick[next]),
                                       false, threads, ignored));
    ++next;
    // Integers are compared as they are, and so are indices that the graph made floats of.
    if (source.values.empty() || is_float(expected.outputs[i].dtype)) continue;
    expected.outputs[i].index_source = IndexSource{source.shape, static_cast<int>(axis),
                                                   std::move(source.values), source.yardstick_worst_abs};
  }
  return expected;
}

Result<Expected> compute(const BoundTask& task, const InputChoice& params, const InputChoice& rest,
                         int threads, const std::stop_token& stop) {
  Interruptible scope(stop);
  try {
    return compute(task, params, rest, threads);
  } catch (const Interrupted&) {
    return fail("interrupted");
  }
}

// Rows share a mean, the maximum of a soft-max, the sums of a layer: what rounding does to one value of a row
// it does to all of them.
bool few_rows(const Expected& expected) {
  return std::ranges::all_of(expected.outputs, [](const ExpectedOutput& output) {
    return output.shape.empty() || output.shape.front() <= kFewRows;
  });
}

}  // namespace

std::size_t Expected::bytes() const {
  std::size_t bytes = 0;
  for (const ExpectedOutput& output : outputs) {
    bytes += output.values.size() * sizeof(float) + output.doubles.size() * sizeof(double) +
             output.ints.size() * sizeof(std::int64_t);
    if (output.index_source) bytes += output.index_source->values.size() * sizeof(float);
  }
  return bytes;
}

Result<Expected> expected_outputs(const BoundTask& task, InputKind kind, std::uint64_t seed, int threads,
                                  FileCache* cache, double worth_caching, const std::stop_token& stop) {
  const std::string key = cache ? cache_key(task, kind, seed) : std::string();
  if (cache)
    if (const auto bytes = cache->load(key))
      if (auto expected = read_expected(*bytes)) {
        expected->from_cache = true;
        return std::move(*expected);
      }
  const auto start = std::chrono::steady_clock::now();
  KF_TRY(Expected expected, compute(task, {kind, seed}, {kind, seed}, threads, stop));
  expected.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // A cache that cannot be written costs time, not correctness.
  if (cache && expected.seconds > worth_caching + kDiskSecondsPerByte * static_cast<double>(expected.bytes()))
    (void)cache->store(key, write_expected(expected));
  return expected;
}

Result<Expected> expected_outputs_once(const BoundTask& task, const InputChoice& params,
                                       const InputChoice& inputs, int threads, const std::stop_token& stop) {
  return compute(task, params, inputs, threads, stop);
}

Result<std::optional<Expected>> allowing_other_roundings(const BoundTask& task, const InputChoice& inputs,
                                                         const Expected& expected, int threads,
                                                         const std::stop_token& stop) {
  if (!few_rows(expected) || !continuous(task.graph)) return std::nullopt;
  Interruptible scope(stop);
  try {
    const MadeInputs values = make_inputs(task, inputs, inputs);
    KF_TRY(auto truth, run_oracle(task.graph, values.views, Precision::kFp64, threads));
    const auto drawn = errors_of_other_roundings(task.graph, values.views, truth, threads);
    Expected wider = expected;
    for (std::size_t i = 0; i < wider.outputs.size(); ++i)
      wider.outputs[i].yardstick_worst_abs = std::max(wider.outputs[i].yardstick_worst_abs, drawn.at(i));
    return wider;
  } catch (const Interrupted&) {
    return fail("interrupted");
  }
}

Result<std::vector<std::vector<float>>> true_outputs_once(const BoundTask& task, const InputChoice& params,
                                                          const InputChoice& inputs, int threads,
                                                          const std::stop_token& stop) {
  Interruptible scope(stop);
  try {
    const MadeInputs values = make_inputs(task, params, inputs);
    KF_TRY(auto truth, run_oracle(task.graph, values.views, Precision::kFp64, threads));
    std::vector<std::vector<float>> outputs;
    for (OracleTensor& result : truth) {
      auto* doubles = std::get_if<std::vector<double>>(&result.values);
      KF_CHECK(doubles, "an output of {} is not a float", task.graph.name);
      outputs.push_back(rounded(*doubles, threads));
      result.values = {};
    }
    return outputs;
  } catch (const Interrupted&) {
    return fail("interrupted");
  }
}

}  // namespace kforge

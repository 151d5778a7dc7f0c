#include "oracle/expected.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/hash.h"
#include "oracle/expected_file.h"
#include "oracle/oracle.h"
#include "oracle/parallel.h"

namespace kforge {
namespace {

// Part of every cache key: raise it when the oracle's values change.
constexpr std::string_view kOracleVersion = "2";
// To write and read again, checksums included.
constexpr double kDiskSecondsPerByte = 8e-9;

std::string cache_key(const BoundTask& task, InputKind kind, std::uint64_t seed) {
  Hasher hasher;
  hasher.add("expected outputs")
      .add(kOracleVersion)
      .add(task.key())
      .add(name_of(kind))
      .add(std::to_string(seed));
  return hasher.hex();
}

// The values of all arguments that are read.
struct Inputs {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<TensorView> views;
};

Inputs make_inputs(const BoundTask& task, InputKind kind, std::uint64_t params_seed, std::uint64_t seed) {
  Inputs inputs;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const BoundArgument& argument = task.arguments[i];
    if (argument.role == Role::kOutput) continue;
    auto& bytes = inputs.bytes.emplace_back(argument.bytes());
    fill_argument(argument, kind, argument.role == Role::kParam ? params_seed : seed, i, bytes);
    inputs.views.push_back({argument.name, argument.dtype, argument.shape, bytes.data()});
  }
  return inputs;
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

struct Difference {
  double square_sum = 0, worst = 0, largest = 0;
  std::int64_t finite = 0;
  bool yardstick_finite = true;
};

Difference difference_of(const std::vector<double>& truth, const std::vector<double>& yardstick,
                         int threads) {
  constexpr std::int64_t kRange = 1 << 18;
  const auto count = static_cast<std::int64_t>(truth.size());
  std::vector<Difference> parts(static_cast<std::size_t>((count + kRange - 1) / kRange));
  parallel_for(threads, count, kRange, [&](std::int64_t begin, std::int64_t end) {
    Difference part;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      if (!std::isfinite(truth[i])) continue;
      part.square_sum += truth[i] * truth[i];
      part.largest = std::max(part.largest, std::fabs(truth[i]));
      ++part.finite;
      if (std::isfinite(yardstick[i]))
        part.worst = std::max(part.worst, std::fabs(yardstick[i] - truth[i]));
      else
        part.yardstick_finite = false;
    }
    parts[static_cast<std::size_t>(begin / kRange)] = part;
  });
  Difference whole;
  for (const Difference& part : parts) {
    whole.square_sum += part.square_sum;
    whole.finite += part.finite;
    whole.worst = std::max(whole.worst, part.worst);
    whole.largest = std::max(whole.largest, part.largest);
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

// What rounding to a narrow dtype costs at most. Where the graph itself rounds its result, truth and
// yardstick may agree by luck in every element, and a program as good as the yardstick would not.
double rounding_of(DType dtype, double largest) {
  if (dtype != DType::kBFloat16 && dtype != DType::kFloat16) return 0;
  return std::ldexp(largest, dtype == DType::kBFloat16 ? -8 : -11);
}

// One output from its truth and its yardstick.
Result<ExpectedOutput> join(const std::string& name, OracleTensor truth, const OracleTensor& yardstick,
                            int threads, bool& yardstick_finite) {
  ExpectedOutput output{.name = name, .dtype = truth.dtype, .shape = truth.shape};
  if (auto* ints = std::get_if<std::vector<std::int64_t>>(&truth.values)) {
    output.ints = std::move(*ints);
    return output;
  }
  auto* values = std::get_if<std::vector<double>>(&truth.values);
  const auto* others = std::get_if<std::vector<double>>(&yardstick.values);
  if (!values) return fail("output {} is a tensor of strings, which no kernel can compute", name);
  if (!others || others->size() != values->size())
    return fail("output {} has another shape in fp32 than in fp64: its shape depends on rounded values",
                name);
  const Difference difference = difference_of(*values, *others, threads);
  output.rms =
      difference.finite > 0 ? std::sqrt(difference.square_sum / static_cast<double>(difference.finite)) : 0;
  output.yardstick_worst_abs = std::max(difference.worst, rounding_of(truth.dtype, difference.largest));
  yardstick_finite &= difference.yardstick_finite;
  output.values = rounded(*values, threads);
  if (truth.dtype == DType::kFloat64) output.doubles = std::move(*values);
  return output;
}

Result<Expected> compute(const BoundTask& task, InputKind kind, std::uint64_t params_seed, std::uint64_t seed,
                         int threads) {
  // Values that indices are chosen from become outputs of the graph as well, after its own.
  Graph graph = task.graph;
  const std::size_t own_outputs = graph.outputs.size();
  std::vector<std::optional<IndexChoice>> choices;
  for (std::size_t i = 0; i < own_outputs; ++i) {
    choices.push_back(index_choice(graph, graph.outputs[i].name));
    if (choices.back()) graph.outputs.push_back({choices.back()->values, {}});
  }

  const Inputs inputs = make_inputs(task, kind, params_seed, seed);
  KF_TRY(auto truth, run_oracle(graph, inputs.views, Precision::kFp64, threads));
  KF_TRY(auto yardstick, run_oracle(graph, inputs.views, Precision::kFp32, threads));

  Expected expected;
  for (std::size_t i = 0; i < own_outputs; ++i) {
    KF_TRY(ExpectedOutput output, join(graph.outputs[i].name, std::move(truth[i]), yardstick[i], threads,
                                       expected.yardstick_finite));
    yardstick[i].values = {};
    expected.outputs.push_back(std::move(output));
  }
  for (std::size_t i = 0, next = own_outputs; i < own_outputs; ++i) {
    if (!choices[i]) continue;
    bool ignored = true;
    const auto rank = static_cast<std::int64_t>(truth[next].shape.size());
    const std::int64_t axis = choices[i]->axis < 0 ? choices[i]->axis + rank : choices[i]->axis;
    KF_TRY(ExpectedOutput source,
           join(choices[i]->values, std::move(truth[next]), yardstick[next], threads, ignored));
    ++next;
    // Integers are compared as they are, and so are indices that the graph made floats of.
    if (source.values.empty() || is_float(expected.outputs[i].dtype)) continue;
    expected.outputs[i].index_source = IndexSource{source.shape, static_cast<int>(axis),
                                                   std::move(source.values), source.yardstick_worst_abs};
  }
  return expected;
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
                                  FileCache* cache, double worth_caching) {
  const std::string key = cache ? cache_key(task, kind, seed) : std::string();
  if (cache)
    if (const auto bytes = cache->load(key))
      if (auto expected = read_expected(*bytes)) {
        expected->from_cache = true;
        return std::move(*expected);
      }
  const auto start = std::chrono::steady_clock::now();
  KF_TRY(Expected expected, compute(task, kind, seed, seed, threads));
  expected.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // A cache that cannot be written costs time, not correctness.
  if (cache && expected.seconds > worth_caching + kDiskSecondsPerByte * static_cast<double>(expected.bytes()))
    (void)cache->store(key, write_expected(expected));
  return expected;
}

Result<Expected> expected_outputs_once(const BoundTask& task, InputKind kind, std::uint64_t params_seed,
                                       std::uint64_t seed, int threads) {
  return compute(task, kind, params_seed, seed, threads);
}

}  // namespace kforge

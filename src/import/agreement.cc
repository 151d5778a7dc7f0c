#include "import/agreement.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <thread>

#include "base/readable.h"
#include "oracle/oracle.h"
#include "task/default_shapes.h"

namespace kforge {
namespace {

using nlohmann::json;

// Attributes of a graph are float32 (an epsilon of 1e-5 is 9.99999975e-6 there): more than the eighth digit
// is not to be had in float64. In float32 two ways to sum differ by far more.
constexpr double kGoodWide = 1e-5, kGoodNarrow = 1e-3;
constexpr std::size_t kLargestTensor = std::size_t{3} << 30;

struct Named {
  TensorFacts facts;
  std::string bytes;
};

Result<std::string> tensor_bytes(const Bridge& bridge, const std::string& file, const TensorFacts& facts) {
  KF_TRY(std::string bytes, bridge.product(file, kLargestTensor));
  if (bytes.size() != facts.bytes())
    return fail("'{}' has {} bytes where {} are right", facts.name, bytes.size(), facts.bytes());
  return bytes;
}

std::vector<double> as_doubles(const TensorFacts& facts, const std::string& bytes) {
  ConstantTensor tensor;
  tensor.dtype = facts.dtype;
  tensor.shape = facts.shape;
  auto raw = std::as_bytes(std::span(bytes));
  tensor.data.assign(raw.begin(), raw.end());
  return tensor.as_double();
}

// Values that are no numbers must be so in both.
Result<double> difference(const OracleTensor& ours, const TensorFacts& facts, const std::string& bytes) {
  if (ours.shape != facts.shape)
    return fail("the graph's output is {}, the module's {}", to_string(ours.shape), to_string(facts.shape));
  std::vector<double> theirs = as_doubles(facts, bytes);
  auto value = [&](std::size_t i) {
    if (auto* wide = std::get_if<std::vector<double>>(&ours.values)) return (*wide)[i];
    return static_cast<double>(std::get<std::vector<std::int64_t>>(ours.values)[i]);
  };
  if (std::holds_alternative<std::vector<std::string>>(ours.values)) return fail("the output is text");
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    double mine = value(i);
    if (std::isnan(mine) || std::isnan(theirs[i])) {
      if (std::isnan(mine) != std::isnan(theirs[i])) return HUGE_VAL;
    } else if (mine != theirs[i]) {
      error = std::max(error, std::abs(mine - theirs[i]));
    }
    if (std::isfinite(theirs[i])) largest = std::max(largest, std::abs(theirs[i]));
  }
  // Outputs that vanish but for rounding cannot be told apart from zero.
  return error == 0 ? 0.0 : error / std::max(largest, 1e-6);
}

Result<double> compare(const Bridge& bridge, const std::vector<TensorFacts>& outputs,
                       const std::string& prefix, const Graph& graph, std::span<const TensorView> inputs,
                       Precision precision) {
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  KF_TRY(std::vector<OracleTensor> ours, run_oracle(graph, inputs, precision, threads));
  if (ours.size() != outputs.size())
    return fail("the graph has {} outputs, the module {}", ours.size(), outputs.size());
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    KF_TRY(std::string bytes, tensor_bytes(bridge, fmt::format("{}_{}", prefix, i), outputs[i]));
    KF_TRY(double error, difference(ours[i], outputs[i], bytes));
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace

bool Agreement::good() const {
  if (wide >= 0) return wide <= kGoodWide;
  return narrow >= 0 && narrow <= kGoodNarrow;
}

std::string Agreement::text() const {
  std::string words;
  if (wide >= 0) words = fmt::format("{} (float64)", readable_error(wide));
  if (narrow >= 0) words += fmt::format("{}{} (float32)", words.empty() ? "" : ", ", readable_error(narrow));
  return (good() ? "equal within " : "differs by ") + words;
}

Result<Agreement> module_agreement(Bridge& bridge, const Values& values, const Graph& graph,
                                   const std::map<std::string, std::size_t>& states,
                                   const ModuleFacts& facts) {
  Values dims;  // numbers of the file that are no sizes may be zero, and dimensions may not
  for (const std::string& symbol : symbols_of(graph))
    if (auto found = values.find(symbol); found != values.end()) dims.insert(*found);
  KF_TRY(Graph bound, bind_dims(graph, dims));
  std::string prefix = bridge.new_prefix();
  std::set<std::size_t> wanted;
  for (const auto& [name, index] : states) wanted.insert(index);
  auto answer = bridge.ask({{"do", "sample"}, {"values", values}, {"prefix", prefix}, {"states", wanted}});
  if (!answer) return std::unexpected(bridge.error(answer.error()));
  std::vector<Named> tensors;
  for (const Value& input : graph.inputs) {
    auto state = states.find(input.name);
    auto own = std::ranges::find(facts.inputs, input.name, &TensorFacts::name);
    if (state == states.end() && own == facts.inputs.end())
      return fail("the graph's input {} is none of the module's", input.name);
    const TensorFacts& one = state != states.end() ? facts.states[state->second] : *own;
    std::string file = state != states.end() ? fmt::format("{}state_{}", prefix, state->second)
                                             : fmt::format("{}input_{}", prefix, own - facts.inputs.begin());
    KF_TRY(std::string bytes, tensor_bytes(bridge, file, one));
    tensors.push_back({one, std::move(bytes)});
    tensors.back().facts.name = input.name;
  }
  std::vector<TensorView> views;
  for (const Named& one : tensors)
    views.push_back({one.facts.name, one.facts.dtype, one.facts.shape,
                     reinterpret_cast<const std::byte*>(one.bytes.data())});
  Agreement agreement;
  KF_TRY(auto outputs, tensor_facts(answer->value("outputs", json())));
  KF_TRY(auto wide, tensor_facts(answer->value("wide", json::array())));
  KF_TRY(agreement.narrow, compare(bridge, outputs, prefix + "output", bound, views, Precision::kFp32));
  agreement.why_not_wide = answer->value("why_not_wide", "");
  if (!wide.empty()) {
    KF_TRY(agreement.wide, compare(bridge, wide, prefix + "wide", bound, views, Precision::kFp64));
  }
  return agreement;
}

}  // namespace kforge

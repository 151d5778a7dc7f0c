#include "oracle/other_rounding.h"

#include <algorithm>
#include <cmath>

namespace kforge {
namespace {

constexpr std::uint64_t kDraws = 3;
constexpr std::int64_t kMostOutputs = 1 << 12, kMostInputs = 1 << 20;  // elements

bool worth_drawing(std::span<const TensorView> inputs, const std::vector<OracleTensor>& truth) {
  std::int64_t read = 0, written = 0;
  for (const TensorView& view : inputs) read += element_count(view.shape);
  for (const OracleTensor& output : truth) written += element_count(output.shape);
  return read <= kMostInputs && written <= kMostOutputs;
}

double largest_difference(const OracleTensor& truth, const OracleTensor& drawn) {
  const auto* right = std::get_if<std::vector<double>>(&truth.values);
  const auto* near = std::get_if<std::vector<double>>(&drawn.values);
  double largest = 0;
  if (!right || !near || right->size() != near->size()) return largest;
  for (std::size_t i = 0; i < right->size(); ++i)
    if (std::isfinite((*right)[i]) && std::isfinite((*near)[i]))
      largest = std::max(largest, std::fabs((*right)[i] - (*near)[i]));
  return largest;
}

}  // namespace

std::vector<double> errors_of_other_roundings(const Graph& graph, std::span<const TensorView> inputs,
                                              const std::vector<OracleTensor>& truth, int threads) {
  std::vector<double> errors(truth.size());
  if (!worth_drawing(inputs, truth)) return errors;
  for (std::uint64_t draw = 1; draw <= kDraws; ++draw) {
    const auto results = run_oracle_rounding_otherwise(graph, inputs, threads, draw);
    if (!results) return errors;  // it led to where the graph has no result, which says nothing
    for (std::size_t i = 0; i < truth.size(); ++i)
      errors[i] = std::max(errors[i], largest_difference(truth[i], (*results)[i]));
  }
  return errors;
}

}  // namespace kforge

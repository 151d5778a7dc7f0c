#include "oracle/other_rounding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <list>
#include <random>

namespace kforge {
namespace {

constexpr std::uint64_t kDraws = 3;
constexpr std::int64_t kMostOutputs = 1 << 12, kMostInputs = 1 << 20;  // elements

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

// float32 inputs with every element moved by one unit in the last place, up or down.
class MovedInputs {
 public:
  MovedInputs(std::span<const TensorView> inputs, std::uint64_t seed) : views(inputs.begin(), inputs.end()) {
    std::minstd_rand random(static_cast<unsigned>(seed));
    for (TensorView& view : views) {
      if (view.dtype != DType::kFloat32) continue;
      std::vector<float>& moved = values_.emplace_back(static_cast<std::size_t>(element_count(view.shape)));
      std::memcpy(moved.data(), view.data, moved.size() * sizeof(float));
      for (float& value : moved) value = std::nextafter(value, random() % 2 ? 2 * value : 0.0F);
      view.data = reinterpret_cast<const std::byte*>(moved.data());
    }
  }

  std::vector<TensorView> views;

 private:
  std::list<std::vector<float>> values_;
};

}  // namespace

bool few_values(std::span<const TensorView> inputs, const std::vector<OracleTensor>& truth) {
  std::int64_t read = 0, written = 0;
  for (const TensorView& view : inputs) read += element_count(view.shape);
  for (const OracleTensor& output : truth) written += element_count(output.shape);
  return read <= kMostInputs && written <= kMostOutputs;
}

std::vector<double> errors_of_other_roundings(const Graph& graph, std::span<const TensorView> inputs,
                                              const std::vector<OracleTensor>& truth, int threads,
                                              bool inputs_too) {
  std::vector<double> errors(truth.size());
  for (std::uint64_t draw = 1; draw <= kDraws; ++draw) {
    const MovedInputs moved(inputs_too ? inputs : std::span<const TensorView>{}, draw);
    const auto results =
        run_oracle_rounding_otherwise(graph, inputs_too ? moved.views : inputs, threads, draw);
    if (!results) return errors;  // it led to where the graph has no result, which says nothing
    for (std::size_t i = 0; i < truth.size(); ++i)
      errors[i] = std::max(errors[i], largest_difference(truth[i], (*results)[i]));
  }
  return errors;
}

}  // namespace kforge

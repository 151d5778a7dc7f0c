#include "oracle/last_bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

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

// Each value one float up, one down, or as it was. Zeros stay: a mask is to remain a mask.
std::vector<float> other_last_bits(const TensorView& view, std::mt19937_64& random) {
  std::vector<float> values(static_cast<std::size_t>(element_count(view.shape)));
  std::memcpy(values.data(), view.data, values.size() * sizeof(float));
  for (float& value : values) {
    const std::uint64_t direction = random() % 3;
    if (direction != 0 && std::isnormal(value))
      value = std::nextafter(value, direction == 1 ? INFINITY : -INFINITY);
  }
  return values;
}

double largest_change(const OracleTensor& was, const OracleTensor& is) {
  const auto* before = std::get_if<std::vector<double>>(&was.values);
  const auto* after = std::get_if<std::vector<double>>(&is.values);
  double largest = 0;
  if (!before || !after || before->size() != after->size()) return largest;
  for (std::size_t i = 0; i < before->size(); ++i)
    if (std::isfinite((*before)[i]) && std::isfinite((*after)[i]))
      largest = std::max(largest, std::fabs((*before)[i] - (*after)[i]));
  return largest;
}

}  // namespace

std::vector<double> moved_by_last_bits(const Graph& graph, std::span<const TensorView> inputs,
                                       const std::vector<OracleTensor>& truth, int threads) {
  std::vector<double> moved(truth.size());
  if (!worth_drawing(inputs, truth)) return moved;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    std::mt19937_64 random(draw);
    std::vector<TensorView> changed(inputs.begin(), inputs.end());
    std::vector<std::vector<float>> values;
    for (TensorView& view : changed) {
      if (view.dtype != DType::kFloat32) continue;
      values.push_back(other_last_bits(view, random));
      view.data = reinterpret_cast<const std::byte*>(values.back().data());
    }
    const auto results = run_oracle(graph, changed, Precision::kFp64, threads);
    if (!results) return moved;  // the change led to where the graph has no result, which says nothing
    for (std::size_t i = 0; i < truth.size(); ++i)
      moved[i] = std::max(moved[i], largest_change(truth[i], (*results)[i]));
  }
  return moved;
}

}  // namespace kforge

#include "verify/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "verify/compare.h"

namespace kforge {
namespace {

constexpr std::int64_t kSampled = 1 << 15;

const ExpectedOutput* expected_of(const Expected& expected, const BoundArgument& argument) {
  const std::string& name = argument.role == Role::kInout ? argument.output : argument.name;
  for (const ExpectedOutput& output : expected.outputs)
    if (output.name == name) return &output;
  return nullptr;
}

}  // namespace

SamplePositions::SamplePositions(const BoundTask& task, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    if (argument.role != Role::kOutput && argument.role != Role::kInout) continue;
    Output output{a, argument.dtype, {}};
    std::int64_t n = element_count(argument.shape), strata = std::min(n, kSampled);
    // One element from each of equal strata: no region larger than a stratum escapes.
    for (std::int64_t s = 0; s < strata; ++s) {
      std::int64_t begin = n * s / strata, end = n * (s + 1) / strata;
      output.elements.push_back(
          begin + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end - begin)));
    }
    outputs_.push_back(std::move(output));
  }
}

Fingerprint fingerprint_of(const SamplePositions& positions, const TensorMemory& outputs,
                           std::uint32_t slot) {
  Fingerprint values;
  for (const auto& output : positions.outputs()) {
    auto data = outputs.tensor(output.argument, slot);
    for (std::int64_t element : output.elements)
      values.push_back(element_as_double(output.dtype, data.data(), element));
  }
  return values;
}

std::optional<std::string> fingerprints_differ(const SamplePositions& positions, const BoundTask& task,
                                               const Fingerprint& timed, const Fingerprint& again,
                                               const PrecisionPolicy& policy, const Expected& expected) {
  std::size_t at = 0;
  for (const auto& output : positions.outputs()) {
    std::size_t n = output.elements.size();
    const BoundArgument& argument = task.arguments[output.argument];
    const ExpectedOutput* truth = expected_of(expected, argument);
    double square = 0;
    for (std::size_t i = 0; i < n; ++i)
      square += std::isfinite(again[at + i]) ? again[at + i] * again[at + i] : 0;
    double rms = std::sqrt(square / static_cast<double>(std::max<std::size_t>(n, 1)));
    // Indices may differ between runs where values tie or nearly tie.
    bool indices = truth && truth->index_source.has_value();
    std::size_t differing = 0, first = n;
    for (std::size_t i = 0; i < n; ++i) {
      double a = timed[at + i], b = again[at + i];
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      double bound = 0;
      if (is_float(output.dtype))
        bound = 2 * std::max(policy.tolerance * std::max(std::abs(b), rms),
                             kYardstickFactor * (truth ? truth->yardstick_worst_abs : 0));
      if (std::abs(a - b) <= bound) continue;
      if (differing++ == 0) first = i;
    }
    std::size_t allowed = indices ? n / 100 + 1 : 0;
    if (differing > allowed)
      return fmt::format(
          "{} of {} sampled elements of {} differ, first element {}: {:.9g} when timed, {:.9g} alone",
          differing, n, argument.c_name, output.elements[first], timed[at + first], again[at + first]);
    at += n;
  }
  return std::nullopt;
}

}  // namespace kforge

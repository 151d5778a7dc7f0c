#include "verify/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

#include "oracle/rounding.h"
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

// How values vary, as compare.h measures it: about their mean, where there are enough of them to have one.
struct Spread {
  double rms = 0, mean = 0, deviation = 0;

  double scale_at(double value) const {
    constexpr double kLastBits = 0.1;  // where all are nearly equal
    const double far = std::max(std::abs(value - mean), deviation), size = std::max(std::abs(value), rms);
    return std::max(std::min(far, size), kLastBits * std::abs(value));
  }
};

Spread spread_of(std::span<const double> values, const ExpectedOutput* truth) {
  constexpr double kFew = 64;
  double count = 0, sum = 0, squares = 0;
  for (double value : values)
    if (std::isfinite(value)) ++count, sum += value, squares += value * value;
  Spread spread;
  spread.rms = spread.deviation = std::sqrt(squares / std::max(count, 1.0));
  if (count < kFew || !truth || truth->rms == 0) return spread;
  spread.mean = sum / count;
  const double variance = squares / count - spread.mean * spread.mean;
  spread.deviation = std::max(std::sqrt(std::max(variance, 0.0)), truth->deviation);
  return spread;
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
    const Spread spread = spread_of(std::span(again).subspan(at, n), truth);
    // Indices may differ between runs where values tie or nearly tie.
    bool indices = truth && truth->index_source.has_value();
    std::size_t differing = 0, first = n;
    for (std::size_t i = 0; i < n; ++i) {
      double a = timed[at + i], b = again[at + i];
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      double bound = 0;
      if (is_float(output.dtype))
        bound = 2 * std::max(policy.tolerance * spread.scale_at(b),
                             kYardstickFactor * (truth ? truth->yardstick_worst_abs : 0)) +
                rounding_allowance(output.dtype, b);
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

bool indices_differ(const SamplePositions& positions, const BoundTask& task, const Fingerprint& timed,
                    const Fingerprint& again, const Expected& expected) {
  std::size_t at = 0;
  for (const auto& output : positions.outputs()) {
    const ExpectedOutput* truth = expected_of(expected, task.arguments[output.argument]);
    const auto from = static_cast<std::ptrdiff_t>(at),
               to = from + static_cast<std::ptrdiff_t>(output.elements.size());
    if (truth && truth->index_source &&
        !std::equal(timed.begin() + from, timed.begin() + to, again.begin() + from))
      return true;
    at += output.elements.size();
  }
  return false;
}

std::optional<std::string> wrong_index(const SamplePositions& positions, const BoundTask& task,
                                       const Fingerprint& timed, const PrecisionPolicy& policy,
                                       const Expected& truth) {
  std::size_t at = 0;
  for (const auto& output : positions.outputs()) {
    const BoundArgument& argument = task.arguments[output.argument];
    const ExpectedOutput* expected = expected_of(truth, argument);
    for (std::size_t i = 0; expected && expected->index_source && i < output.elements.size(); ++i) {
      const auto got = static_cast<std::int64_t>(timed[at + i]);
      if (!index_as_good(*expected, policy, output.elements[i], got))
        return fmt::format("element {} of {} was {} when timed, must be {}", output.elements[i],
                           argument.c_name, got,
                           expected->ints[static_cast<std::size_t>(output.elements[i])]);
    }
    at += output.elements.size();
  }
  return std::nullopt;
}

}  // namespace kforge

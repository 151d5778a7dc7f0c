#include "verify/evidence.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace kforge {
namespace {

// Largest |error| / scale in each eighth of the output: shows a bad border or a bad tail at a glance.
std::vector<double> error_by_region(const ExpectedOutput& expected, std::span<const std::byte> actual) {
  constexpr std::int64_t kRegions = 8;
  std::int64_t n = element_count(expected.shape);
  std::vector<double> regions;
  if (!is_float(expected.dtype) || n < kRegions) return regions;
  double scale = expected.rms > 0 ? expected.rms : 1;
  for (std::int64_t r = 0; r < kRegions; ++r) {
    double worst = 0;
    for (std::int64_t i = n * r / kRegions; i < n * (r + 1) / kRegions; ++i) {
      double error = std::abs(element_as_double(expected.dtype, actual.data(), i) -
                              static_cast<double>(expected.values[static_cast<std::size_t>(i)]));
      if (!(error <= worst)) worst = error;
    }
    regions.push_back(worst / scale);
  }
  return regions;
}

}  // namespace

std::vector<std::int64_t> unflatten(const Shape& shape, std::int64_t index) {
  std::vector<std::int64_t> position(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    position[d] = index % shape[d];
    index /= shape[d];
  }
  return position;
}

ComparedOutput compared_output(const ExpectedOutput& expected, std::span<const std::byte> actual,
                               const Comparison& found, std::string_view input_kind) {
  ComparedOutput compared{.output = expected.name,
                          .inputs = std::string(input_kind),
                          .elements = found.elements,
                          .wrong = found.wrong,
                          .wrong_nonfinite = found.wrong_nonfinite,
                          .worst = {},
                          .first_wrong = {},
                          .pattern = found.pattern,
                          .max_abs = found.max_abs,
                          .rel_norm = found.rel_norm,
                          .yardstick_worst_abs = expected.yardstick_worst_abs};
  for (const WrongElement& element : found.worst)
    compared.worst.push_back(
        {unflatten(expected.shape, element.index), element.got, element.want, element.error, element.bound});
  if (found.first_wrong >= 0) {
    compared.first_wrong = unflatten(expected.shape, found.first_wrong);
    compared.error_by_region = error_by_region(expected, actual);
  }
  return compared;
}

// More than this is no loss of digits.
static constexpr double kLongSumError = 0.1;

std::string comparison_sentence(const ExpectedOutput& expected, const Comparison& found,
                                std::string_view policy, std::string_view input_kind) {
  std::string sentence = fmt::format("{} of {} elements of {} are outside the {} policy on {} inputs",
                                     found.wrong, found.elements, expected.name, policy, input_kind);
  if (!found.worst.empty()) {
    const WrongElement& worst = found.worst.front();
    sentence += fmt::format("; worst {}[{}] = {:.9g}, must be {:.9g}", expected.name,
                            fmt::join(unflatten(expected.shape, worst.index), ","), worst.got, worst.want);
    if (worst.bound > 0) sentence += fmt::format(" +- {:.2g}", worst.bound);
  }
  if (!found.pattern.empty()) sentence += "; " + found.pattern;
  // Arithmetic of fewer digits (Winograd's minimal filtering by large tiles, split products) has a policy of
  // its own.
  auto asked = policy_from_name(policy);
  for (const PrecisionPolicy& looser : all_policies())
    if (asked && is_float(expected.dtype) && found.wrong_nonfinite == 0 &&
        looser.tolerance > asked->tolerance && found.max_rel <= looser.tolerance) {
      sentence += fmt::format("; it would be within `--precision {}` ({})", looser.name, looser.what);
      break;
    }
  if (expected.long_sums && found.max_rel < kLongSumError)
    sentence +=
        "; the graph sums up more than 65,536 values: so many in one fp32 sum lose digits, take several "
        "sums, "
        "blocks, or double";
  return sentence;
}

}  // namespace kforge

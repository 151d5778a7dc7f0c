#include "verify/evidence.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kforge {
namespace {

using nlohmann::json;

// JSON has no infinities: they become text.
json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

// Largest |error| / scale in each eighth of the output: shows a bad border or a bad tail at a glance.
json error_by_region(const ExpectedOutput& expected, std::span<const std::byte> actual) {
  constexpr std::int64_t kRegions = 8;
  std::int64_t n = element_count(expected.shape);
  json regions = json::array();
  if (!is_float(expected.dtype) || n < kRegions) return regions;
  double scale = expected.rms > 0 ? expected.rms : 1;
  for (std::int64_t r = 0; r < kRegions; ++r) {
    double worst = 0;
    for (std::int64_t i = n * r / kRegions; i < n * (r + 1) / kRegions; ++i) {
      double error = std::abs(element_as_double(expected.dtype, actual.data(), i) -
                              static_cast<double>(expected.values[static_cast<std::size_t>(i)]));
      if (!(error <= worst)) worst = error;
    }
    regions.push_back(number(worst / scale));
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

std::string comparison_evidence(const ExpectedOutput& expected, std::span<const std::byte> actual,
                                const Comparison& found, std::string_view input_kind) {
  json worst = json::array();
  for (const WrongElement& element : found.worst)
    worst.push_back({{"index", unflatten(expected.shape, element.index)},
                     {"got", number(element.got)},
                     {"want", number(element.want)},
                     {"error", number(element.error)},
                     {"bound", number(element.bound)}});
  json evidence = {{"output", expected.name},
                   {"inputs", input_kind},
                   {"elements", found.elements},
                   {"wrong", found.wrong},
                   {"wrong_nonfinite", found.wrong_nonfinite},
                   {"worst", worst},
                   {"max_abs", number(found.max_abs)},
                   {"rel_norm", number(found.rel_norm)},
                   {"yardstick_worst_abs", number(expected.yardstick_worst_abs)}};
  if (found.first_wrong >= 0) {
    evidence["first_wrong"] = unflatten(expected.shape, found.first_wrong);
    evidence["error_by_region"] = error_by_region(expected, actual);
  }
  if (!found.pattern.empty()) evidence["pattern"] = found.pattern;
  return evidence.dump();
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
    if (asked && found.wrong_nonfinite == 0 && looser.tolerance > asked->tolerance &&
        found.max_rel <= looser.tolerance) {
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

std::string numbers_evidence(std::span<const std::pair<std::string, double>> numbers) {
  json evidence = json::object();
  for (const auto& [name, value] : numbers) evidence[name] = number(value);
  return evidence.dump();
}

}  // namespace kforge

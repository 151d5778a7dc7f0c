#include "import/fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace kforge {
namespace {

// 1, 3/4, 1/2, 3/8, 1/4, ...: sizes stay round and divisible.
double factor(int step) { return (step % 2 ? 0.75 : 1.0) * std::pow(0.5, step / 2); }

constexpr int kMostSteps = 80;
constexpr std::int64_t kLeast = 4;  // below it a size is no size of its kind any more

// Nothing: no number can become smaller than it is at the step before.
std::optional<Values> scaled(const Values& real, const std::vector<std::string>& symbols, std::size_t count,
                             int step) {
  Values values = real;
  bool all_least = step > 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t old = real.at(symbols[i]), least = std::min(old, kLeast);
    auto value = static_cast<std::int64_t>(std::floor(static_cast<double>(old) * factor(step)));
    if (value > 64) value -= value % 8;
    all_least = all_least && value < least;
    values[symbols[i]] = std::max(value, least);
  }
  if (all_least) return std::nullopt;
  return values;
}

}  // namespace

Result<double> parse_fit(const std::string& text) {
  char* end = nullptr;
  double number = std::strtod(text.c_str(), &end);
  std::string unit = end;
  double scale = unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : unit == "s" ? 1.0 : 0.0;
  if (end == text.c_str() || scale == 0 || !(number * scale >= 1e-5 && number * scale <= 600))
    return fail("--fit {}: write a time such as 50ms or 2s", text);
  return number * scale;
}

Result<Fitted> fit_sizes(const Values& real, const std::vector<std::string>& symbols, double target_seconds,
                         double most_bytes, const FitQuestions& questions) {
  auto can_be_tried = [&](const Values& values) {
    auto guess = questions.guess(values);
    // A guess is rough: what may be eight times too slow is still worth a measurement.
    return guess && guess->second <= most_bytes && guess->first <= 8 * target_seconds;
  };
  std::optional<Fitted> best;
  auto is_better = [&](double seconds) {
    auto away = [&](double one) { return std::abs(std::log(one / target_seconds)); };
    return !best || away(seconds) < away(best->seconds);
  };
  for (std::size_t count = 0; count <= symbols.size(); ++count) {
    for (int step = count == 0 ? 0 : 1; step < (count == 0 ? 1 : kMostSteps); ++step) {
      auto values = scaled(real, symbols, count, step);
      if (!values) break;
      if (!can_be_tried(*values)) continue;
      auto seconds = questions.measure(*values);
      if (!seconds) continue;
      if (is_better(*seconds)) {
        best = Fitted{*values, *seconds, {}};
        for (const auto& [name, value] : real)
          if (best->values.at(name) != value) best->made_smaller.insert(name);
      }
      if (*seconds <= target_seconds * 1.5) return *best;
    }
  }
  if (best) return *best;
  return fail("no sizes were found at which the module takes about {:.3g} s and fits in memory",
              target_seconds);
}

}  // namespace kforge

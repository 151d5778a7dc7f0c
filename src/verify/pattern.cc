#include "verify/pattern.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kforge {
namespace {

constexpr std::int64_t kLookedAt = 1 << 20;  // elements; patterns show in the first million

struct View {
  const ExpectedOutput& expected;
  const std::byte* actual;
  const CompareOptions& options;

  double want(std::int64_t i) const {
    auto at = static_cast<std::size_t>(i);
    return is_float(expected.dtype) ? static_cast<double>(expected.values[at])
                                    : static_cast<double>(expected.ints[at]);
  }
  double got(std::int64_t i) const { return element_as_double(expected.dtype, actual, i); }
  // A coarse test: patterns need no exact bounds.
  bool wrong(std::int64_t i) const {
    double w = want(i), g = got(i);
    if (!std::isfinite(w) || !std::isfinite(g)) return !(std::isnan(w) && std::isnan(g)) && w != g;
    double tolerance = std::max(options.policy.tolerance, 1e-6) * std::max(std::abs(w), expected.rms);
    return std::abs(w - g) > std::max(tolerance, kYardstickFactor * expected.yardstick_worst_abs);
  }
};

std::string uniform_value(const View& v, std::int64_t n) {
  double first = v.got(0);
  for (std::int64_t i = 1; i < n; ++i) {
    double g = v.got(i);
    if (g != first && !(std::isnan(g) && std::isnan(first))) return "";
  }
  return fmt::format("every element is {}", first);
}

std::string common_factor(const View& v, std::int64_t n) {
  double factor = 0;
  std::int64_t used = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    double w = v.want(i), g = v.got(i);
    if (!std::isfinite(g) || std::abs(w) < 0.1 * v.expected.rms || w == 0) continue;
    double ratio = g / w;
    if (used++ == 0) factor = ratio;
    if (std::abs(ratio - factor) > 1e-3 * std::abs(factor)) return "";
  }
  if (used < 2 || std::abs(factor - 1) < 1e-3) return "";
  if (std::abs(factor + 1) < 1e-3) return "every value has the wrong sign";
  return fmt::format("every value is {:.4g} times what it must be", factor);
}

std::string transposed(const View& v, std::int64_t n) {
  const Shape& shape = v.expected.shape;
  if (shape.size() < 2) return "";
  std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (rows * columns > n || rows < 2 || columns < 2) return "";
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      double difference = std::abs(v.got(j * rows + i) - v.want(i * columns + j));
      if (!(difference <= 1e-3 * std::max(v.expected.rms, std::abs(v.want(i * columns + j))))) return "";
    }
  return "the result is transposed";
}

std::string regular_positions(const std::vector<std::int64_t>& wrong, std::int64_t n, bool all_seen) {
  std::int64_t step = 0;
  for (std::size_t i = 1; i < wrong.size(); ++i) step = std::gcd(step, wrong[i] - wrong[i - 1]);
  if (step > 1 && static_cast<std::int64_t>(wrong.size()) * step >= n / 2)
    return fmt::format("every {}th element is wrong, starting at {}", step, wrong.front());
  bool contiguous = wrong.back() - wrong.front() + 1 == static_cast<std::int64_t>(wrong.size());
  if (contiguous && all_seen && wrong.back() == n - 1 && wrong.front() > 0)
    return fmt::format("everything from element {} on is wrong (a tail that was not handled?)",
                       wrong.front());
  if (contiguous && wrong.size() > 1)
    return fmt::format("elements {} to {} are wrong, the rest is right", wrong.front(), wrong.back());
  return "";
}

// Wrong elements confined to few rows or columns of the last two axes.
std::string border(const std::vector<std::int64_t>& wrong, const Shape& shape) {
  if (shape.size() < 2) return "";
  std::int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  bool last_column = columns > 2, first_column = columns > 2, last_row = rows > 2, first_row = rows > 2,
       rim = rows > 2 && columns > 2;
  for (std::int64_t index : wrong) {
    std::int64_t column = index % columns, row = index / columns % rows;
    last_column = last_column && column == columns - 1;
    first_column = first_column && column == 0;
    last_row = last_row && row == rows - 1;
    first_row = first_row && row == 0;
    rim = rim && (column == 0 || row == 0 || column == columns - 1 || row == rows - 1);
  }
  if (last_column) return "only the last column is wrong";
  if (first_column) return "only the first column is wrong";
  if (last_row) return "only the last row is wrong";
  if (first_row) return "only the first row is wrong";
  if (rim) return "only the border is wrong";
  return "";
}

}  // namespace

std::string error_pattern(const ExpectedOutput& expected, std::span<const std::byte> actual,
                          const CompareOptions& options, const Comparison& found) {
  View view{expected, actual.data(), options};
  std::int64_t n = std::min(found.elements, kLookedAt);
  std::vector<std::int64_t> wrong;
  for (std::int64_t i = 0; i < n; ++i)
    if (view.wrong(i)) wrong.push_back(i);
  if (n > 1)
    if (std::string text = uniform_value(view, n); !text.empty()) return text;
  if (is_float(expected.dtype) && static_cast<std::int64_t>(wrong.size()) * 2 > n) {
    if (std::string text = common_factor(view, n); !text.empty()) return text;
    if (std::string text = transposed(view, n); !text.empty()) return text;
  }
  if (wrong.size() < 2 || static_cast<std::int64_t>(wrong.size()) == n) return "";
  if (std::string text = border(wrong, expected.shape); !text.empty()) return text;
  return regular_positions(wrong, n, n == found.elements);
}

}  // namespace kforge

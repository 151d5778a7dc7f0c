// One line per figure, the same everywhere: what it is, what was measured, what is wanted.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kforge::bench {

inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Says whether the target is met, so that a program can end with the count of those that are not.
inline bool print_figure(const std::string& what, double value, const std::string& unit, double at_most) {
  bool met = value <= at_most;
  fmt::print("{:<72} {:>8.3g} {:<3} target <= {:<6.3g} {}\n", what, value, unit, at_most,
             met ? "met" : "NOT MET");
  return met;
}

inline void print_fact(const std::string& what, double value, const std::string& unit) {
  fmt::print("{:<72} {:>8.3g} {}\n", what, value, unit);
}

}  // namespace kforge::bench

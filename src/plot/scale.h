// From values to places on a drawing, and where the ticks stand.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kforge {

enum class ScaleKind : std::uint8_t { kLinear, kLog };

// What an axis reaches over.
struct Range {
  double lo = 0, hi = 1;
};

// Around the values, with some room; those that are not finite, and on a log scale those that are not
// positive, are passed over. Never empty, whatever the values are.
Range range_over(ScaleKind kind, std::span<const double> values);

class Scale {
 public:
  Scale(ScaleKind kind, Range range, double from, double to);
  // Values outside lie at the nearer end.
  double at(double value) const;

 private:
  double position(double value) const;

  ScaleKind kind_;
  double lo_ = 0, hi_ = 1, from_ = 0, to_ = 1;
};

// Round values within the range, at most about `most`: steps of 1, 2 or 5 times a power of ten; on a log
// scale the powers themselves, with 2 and 5 between them where there is room.
std::vector<double> ticks_of(ScaleKind kind, Range range, int most);

// "0.5", "20", "1000", "1e+06".
std::string tick_label(double value);

}  // namespace kforge

// Horizontal bars, each with its interval: who takes how long, which problem is how much faster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/interval.h"
#include "plot/scale.h"
#include "plot/svg.h"

namespace kforge {

struct Bar {
  std::string label;
  std::string figure;  // the value as it is told: "3.42 ms [3.40, 3.45]"
  Interval value;
  Tone tone = Tone::kPlain;
};

struct BarChart {
  std::string title;       // for those who do not see it
  std::string axis_title;  // "time per call, ms"
  std::vector<Bar> bars;
  ScaleKind scale = ScaleKind::kLinear;
  double origin = 0;  // where bars begin: 0, or 1 for ratios on a log scale
  std::string (*tick)(double) = tick_label;
};

// At widths of a phone labels stand above their bars.
Markup draw(const BarChart& chart, double width);

}  // namespace kforge

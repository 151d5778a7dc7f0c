// Curves and points over two axes: the roofline, the story of a search, the shares of a suite.
#pragma once

#include <string>
#include <vector>

#include "base/interval.h"
#include "plot/scale.h"
#include "plot/svg.h"

namespace kforge {

struct XyAxis {
  std::string title;
  ScaleKind scale = ScaleKind::kLinear;
  // Values the axis must reach, beside those of the series.
  std::vector<double> reach = {};
  std::string (*tick)(double) = tick_label;
  bool whole = false;  // ticks at whole numbers only
};

struct XyPoint {
  double x = 0;
  Interval y;              // lo and hi equal to value: no interval is drawn
  std::string label = {};  // beside the point
  std::string tip = {};
  Tone tone = Tone::kPlain;  // of a point; lines have their series' tone
};

struct XySeries {
  enum class Shape : std::uint8_t {
    kPoints,
    kLine,   // straight from point to point
    kSteps,  // holds a value until the next
  };
  std::string name;  // in the legend; empty: not there
  Shape shape = Shape::kPoints;
  Tone tone = Tone::kPlain;
  std::vector<XyPoint> points;
  bool band = false;    // the intervals as an area below a line or steps
  bool dashed = false;  // a limit rather than something measured here
  bool marks = false;   // points on a line, too
};

struct XyChart {
  std::string title;  // for those who do not see it
  XyAxis x, y;
  std::vector<XySeries> series;
  double height = 300;  // of the field between the axes
};

Markup draw(const XyChart& chart, double width);

}  // namespace kforge

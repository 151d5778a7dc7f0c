#include "plot/bars.h"

#include <algorithm>

namespace kforge {
namespace {

constexpr double kStackedBelow = 500;  // pixels
constexpr double kBarHeight = 12;

struct BarPlaces {
  double label_width = 0, left = 0, right = 0, row_height = 0, bar_offset = 0;
  bool stacked = false;
};

BarPlaces places_of(const BarChart& chart, double width) {
  double label = 0, figure = 0;
  for (const Bar& bar : chart.bars) {
    label = std::max(label, pixels_of(bar.label));
    figure = std::max(figure, pixels_of(bar.figure));
  }
  BarPlaces p;
  p.stacked = width < kStackedBelow;
  if (p.stacked) {
    p = {width - figure - 8, 4, width - 8, kRow + kBarHeight + 12, kRow + 2, true};
  } else {
    p.label_width = std::min(label + 12, 0.34 * width);
    p.left = p.label_width;
    p.right = width - std::min(figure + 14, 0.3 * width);
    p.row_height = kRow + 6;
    p.bar_offset = 6;
  }
  return p;
}

Range range_of(const BarChart& chart) {
  std::vector<double> values{chart.origin};
  for (const Bar& bar : chart.bars)
    values.insert(values.end(), {bar.value.value, bar.value.lo, bar.value.hi});
  return range_over(chart.scale, values);
}

void draw_bar(Svg& svg, const Bar& bar, const BarPlaces& p, const Scale& scale, double origin, double top) {
  const double y = top + p.bar_offset, middle = y + kBarHeight / 2;
  const double from = scale.at(origin), to = scale.at(bar.value.value);
  const std::string tip = bar.label + ": " + bar.figure;
  svg.rect(std::min(from, to), y, std::max(std::abs(to - from), 1.0), kBarHeight, "bar", bar.tone, tip);
  if (bar.value.hi > bar.value.lo) {
    const double lo = scale.at(bar.value.lo), hi = scale.at(bar.value.hi);
    svg.line(lo, middle, hi, middle, "whisker");
    for (double end : {lo, hi}) svg.line(end, middle - 4, end, middle + 4, "whisker");
  }
  const double text_y = p.stacked ? top + kRow - 4 : middle + 4;
  svg.text(p.stacked ? p.left : 0, text_y, Anchor::kStart, "label", fitting(bar.label, p.label_width - 8),
           bar.label);
  svg.text(svg.width() - (p.stacked ? 4 : 0), text_y, Anchor::kEnd, "figure", bar.figure);
}

}  // namespace

Markup draw(const BarChart& chart, double width) {
  Svg svg(width, chart.title);
  const BarPlaces p = places_of(chart, width);
  const Range range = range_of(chart);
  const Scale scale(chart.scale, range, p.left, p.right);
  const double bottom = p.row_height * static_cast<double>(chart.bars.size()) + 6;
  for (double tick : ticks_of(chart.scale, range, std::max(2, static_cast<int>((p.right - p.left) / 50)))) {
    const double x = scale.at(tick);
    svg.line(x, 0, x, bottom, "grid");
    svg.text(x, bottom + 14, Anchor::kMiddle, "tick", chart.tick(tick));
  }
  double top = 0;
  for (const Bar& bar : chart.bars) {
    draw_bar(svg, bar, p, scale, chart.origin, top);
    top += p.row_height;
  }
  svg.line(scale.at(chart.origin), 0, scale.at(chart.origin), bottom, "axis");
  svg.text((p.left + p.right) / 2, bottom + 32, Anchor::kMiddle, "axis-title",
           fitting(chart.axis_title, width));
  return svg.finish(bottom + (chart.axis_title.empty() ? 20 : 38));
}

}  // namespace kforge

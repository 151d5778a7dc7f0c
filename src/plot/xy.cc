#include "plot/xy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kforge {
namespace {

using Shape = XySeries::Shape;

// What the axes reach over, and where that lies.
struct Field {
  Range x_range, y_range;
  double left = 0, right = 0, top = 0, bottom = 0;
  Scale x, y;
};

Range x_range_of(const XyChart& chart) {
  std::vector<double> values = chart.x.reach;
  for (const XySeries& series : chart.series)
    for (const XyPoint& point : series.points) values.push_back(point.x);
  return range_over(chart.x.scale, values);
}

Range y_range_of(const XyChart& chart) {
  std::vector<double> values = chart.y.reach;
  for (const XySeries& series : chart.series)
    for (const XyPoint& point : series.points)
      values.insert(values.end(), {point.y.value, point.y.lo, point.y.hi});
  return range_over(chart.y.scale, values);
}

std::vector<double> axis_ticks(const XyAxis& axis, Range range, int most) {
  std::vector<double> ticks = ticks_of(axis.scale, range, most);
  if (axis.whole) std::erase_if(ticks, [](double tick) { return tick != std::round(tick); });
  return ticks;
}

// Rows of swatches with names; the height used.
double draw_legend(Svg& svg, const XyChart& chart) {
  double x = 4, y = 0;
  bool any = false;
  for (const XySeries& series : chart.series) {
    if (series.name.empty()) continue;
    const double needs = 26 + pixels_of(series.name) + 20;
    if (any && x + needs > svg.width()) {
      x = 4;
      y += kRow;
    }
    any = true;
    if (series.shape == Shape::kPoints)
      svg.circle(x + 9, y + 9, 4, "point", series.tone);
    else
      svg.line(x, y + 9, x + 18, y + 9, series.dashed ? "curve dashed" : "curve", series.tone);
    svg.text(x + 24, y + 13, Anchor::kStart, "legend", fitting(series.name, svg.width() - x - 28),
             series.name);
    x += needs;
  }
  return any ? y + kRow + 6 : 0;
}

void draw_axes(Svg& svg, const XyChart& chart, const Field& f, const std::vector<double>& y_ticks) {
  for (double tick : y_ticks) {
    const double y = f.y.at(tick);
    svg.line(f.left, y, f.right, y, "grid");
    svg.text(f.left - 6, y + 4, Anchor::kEnd, "tick", chart.y.tick(tick));
  }
  for (double tick : axis_ticks(chart.x, f.x_range, std::max(2, static_cast<int>((f.right - f.left) / 50)))) {
    const double x = f.x.at(tick);
    svg.line(x, f.top, x, f.bottom, "grid");
    svg.text(x, f.bottom + 15, Anchor::kMiddle, "tick", chart.x.tick(tick));
  }
  svg.line(f.left, f.bottom, f.right, f.bottom, "axis");
  svg.line(f.left, f.top, f.left, f.bottom, "axis");
  svg.text((f.left + f.right) / 2, f.bottom + 33, Anchor::kMiddle, "axis-title",
           fitting(chart.x.title, f.right - f.left));
}

// "M1 2L3 4": through the points at one of their three heights, with steps or straight.
std::string track(const std::vector<XyPoint>& points, const Field& f, double Interval::*height, bool steps) {
  std::string path;
  double last = 0;
  for (const XyPoint& point : points) {
    const double x = f.x.at(point.x), y = f.y.at(point.y.*height);
    if (path.empty())
      path = fmt::format("M{} {}", svg_number(x), svg_number(y));
    else if (steps)
      path += fmt::format("L{} {}L{} {}", svg_number(x), svg_number(last), svg_number(x), svg_number(y));
    else
      path += fmt::format("L{} {}", svg_number(x), svg_number(y));
    last = y;
  }
  return path;
}

// The area between the ends of the intervals: one track there, the other back.
std::string band_of(const XySeries& series, const Field& f) {
  const bool steps = series.shape == Shape::kSteps;
  std::string path = track(series.points, f, &Interval::hi, steps);
  double before = 0;
  bool first = true;
  for (auto point = series.points.rbegin(); point != series.points.rend(); ++point) {
    const double x = f.x.at(point->x), y = f.y.at(point->y.lo);
    // Going back, a step falls at the place of the point that was just passed.
    if (steps && !first) path += fmt::format("L{} {}", svg_number(before), svg_number(y));
    path += fmt::format("L{} {}", svg_number(x), svg_number(y));
    before = x;
    first = false;
  }
  return path.empty() ? path : path + "Z";
}

void draw_point(Svg& svg, const XyPoint& point, const Field& f, Tone tone) {
  const double x = f.x.at(point.x), y = f.y.at(point.y.value);
  if (point.y.hi > point.y.lo) svg.line(x, f.y.at(point.y.lo), x, f.y.at(point.y.hi), "whisker");
  svg.circle(x, y, tone == Tone::kBest ? 5 : 4, "point", tone, point.tip.empty() ? point.label : point.tip);
  if (point.label.empty()) return;
  const bool left = x + 10 + pixels_of(point.label) > f.right;
  svg.text(left ? x - 7 : x + 7, y - 7, left ? Anchor::kEnd : Anchor::kStart, "label", point.label);
}

void draw_series(Svg& svg, const XySeries& series, const Field& f) {
  const bool steps = series.shape == Shape::kSteps;
  if (series.band) svg.path(band_of(series, f), "band", series.tone);
  if (series.shape != Shape::kPoints)
    svg.path(track(series.points, f, &Interval::value, steps), series.dashed ? "curve dashed" : "curve",
             series.tone);
  if (series.shape == Shape::kPoints || series.marks)
    for (const XyPoint& point : series.points)
      draw_point(svg, point, f, point.tone == Tone::kPlain ? series.tone : point.tone);
}

}  // namespace

Markup draw(const XyChart& chart, double width) {
  Svg svg(width, chart.title);
  const double legend = draw_legend(svg, chart);
  svg.text(0, legend + 12, Anchor::kStart, "axis-title", fitting(chart.y.title, width));
  const double top = legend + 22, bottom = top + chart.height;
  const Range x_range = x_range_of(chart), y_range = y_range_of(chart);
  const std::vector<double> y_ticks =
      axis_ticks(chart.y, y_range, std::max(2, static_cast<int>(chart.height / 36)));
  double left = 20;
  for (double tick : y_ticks) left = std::max(left, pixels_of(chart.y.tick(tick)) + 10);
  const Field f{x_range,
                y_range,
                left,
                width - 12,
                top,
                bottom,
                Scale(chart.x.scale, x_range, left, width - 12),
                Scale(chart.y.scale, y_range, bottom, top)};
  draw_axes(svg, chart, f, y_ticks);
  for (const XySeries& series : chart.series) draw_series(svg, series, f);
  return svg.finish(bottom + 40);
}

}  // namespace kforge

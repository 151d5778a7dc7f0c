#include "plot/treemap.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace kforge {
namespace {

struct Area {
  double x = 0, y = 0, width = 0, height = 0;
};

// How far from a square the worst rectangle is when `sum` fills a strip along a side.
double worst_shape(double largest, double smallest, double sum, double side) {
  const double thickness = sum / side;
  auto stretch = [&](double value) {
    const double length = value / thickness;
    return std::max(length / thickness, thickness / length);
  };
  return std::max(stretch(largest), stretch(smallest));
}

void draw_part(Svg& svg, const TreemapPart& part, const Area& area) {
  svg.rect(area.x + 1, area.y + 1, area.width - 2, area.height - 2, "tile", part.tone,
           part.label + ": " + part.figure);
  const double room = area.width - 12;
  if (area.height < 20 || room < 4 * kLetter) return;
  svg.text(area.x + 7, area.y + 16, Anchor::kStart, "label", fitting(part.label, room), part.label);
  if (area.height >= 38)
    svg.text(area.x + 7, area.y + 33, Anchor::kStart, "figure", fitting(part.figure, room));
}

}  // namespace

Markup draw(const Treemap& map, double width) {
  Svg svg(width, map.title);
  std::vector<const TreemapPart*> parts;
  double total = 0;
  for (const TreemapPart& part : map.parts)
    if (part.value > 0 && std::isfinite(part.value)) {
      parts.push_back(&part);
      total += part.value;
    }
  std::ranges::stable_sort(parts, std::greater{}, [](const TreemapPart* part) { return part->value; });
  Area rest{0, 0, width, map.height};
  const double scale = total > 0 ? width * map.height / total : 0;
  // The largest parts first, in strips along the shorter side: each strip takes parts as long as that makes
  // its rectangles squarer.
  for (std::size_t begin = 0; begin < parts.size();) {
    const double side = std::min(rest.width, rest.height);
    if (side < 1) break;
    const double largest = parts[begin]->value * scale;
    double sum = largest;
    std::size_t end = begin + 1;
    for (; end < parts.size(); ++end) {
      const double next = parts[end]->value * scale;
      if (worst_shape(largest, next, sum + next, side) >
          worst_shape(largest, parts[end - 1]->value * scale, sum, side))
        break;
      sum += next;
    }
    const double thickness = sum / side;
    const bool upright = rest.width >= rest.height;  // a column at the left; else a row at the top
    double at = 0;
    for (const TreemapPart* part : std::span(parts).subspan(begin, end - begin)) {
      const double length = part->value * scale / thickness;
      draw_part(svg, *part,
                upright ? Area{rest.x, rest.y + at, thickness, length}
                        : Area{rest.x + at, rest.y, length, thickness});
      at += length;
    }
    (upright ? rest.x : rest.y) += thickness;
    (upright ? rest.width : rest.height) -= thickness;
    begin = end;
  }
  return svg.finish(map.height);
}

}  // namespace kforge

// Where the time went: rectangles whose areas are the shares, as near to squares as they can be, so that
// small and large ones compare.
#pragma once

#include <string>
#include <vector>

#include "plot/svg.h"

namespace kforge {

struct TreemapPart {
  std::string label, figure;  // "search", "12 s"
  double value = 0;           // parts without a positive one are left out
  Tone tone = Tone::kPlain;
};

struct Treemap {
  std::string title;  // for those who do not see it
  std::vector<TreemapPart> parts;
  double height = 140;
};

Markup draw(const Treemap& map, double width);

}  // namespace kforge

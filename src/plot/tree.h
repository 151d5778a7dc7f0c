// A tree of things that came one from another, one a row: children stand below and to the right of their
// parent, so that deep trees fit a phone as well as a wall.
#pragma once

#include <string>
#include <vector>

#include "plot/svg.h"

namespace kforge {

struct TreeNode {
  int id = 0;
  int parent = -1;     // id; one that is not there: a root
  bool round = true;   // of two kinds of nodes, which one
  std::string figure;  // "1.31x"; may be empty
  std::string label;
  Tone tone = Tone::kPlain;
  bool on_path = false;  // of the line that led to the best
};

struct TreeChart {
  std::string title;  // for those who do not see it
  std::vector<TreeNode> nodes;
};

Markup draw(const TreeChart& chart, double width);

}  // namespace kforge

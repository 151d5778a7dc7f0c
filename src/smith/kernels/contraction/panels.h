// How rows and columns fall into panels: rows evenly, so that none is nearly empty; columns by the tile's
// width, the last panel of each run of columns narrower.
#pragma once

#include "smith/kernels/vectors/vectors.h"

namespace {

template <class P>
struct Panels {
  // The first kTallPanels row panels have kRows rows, the others one less.
  static SMITH_INLINE long row(long panel) {
    if constexpr (P::kTallPanels == P::kRowPanels) return panel * P::kRows;
    return panel < P::kTallPanels ? panel * P::kRows
                                  : P::kTallPanels * P::kRows + (panel - P::kTallPanels) * (P::kRows - 1);
  }
  static SMITH_INLINE int rows(long panel) {
    if constexpr (P::kTallPanels == P::kRowPanels) return P::kRows;
    return panel < P::kTallPanels ? P::kRows : P::kRows - 1;
  }

  static SMITH_INLINE long column(long panel) {
    if constexpr (P::kPanelsPerRun == P::kColumnPanels) return panel * P::kTileN;
    return panel / P::kPanelsPerRun * P::kRun + panel % P::kPanelsPerRun * P::kTileN;
  }
  static SMITH_INLINE bool is_edge(long panel) {
    if constexpr (P::kPanelsPerRun == P::kColumnPanels) return panel == P::kColumnPanels - 1;
    return panel % P::kPanelsPerRun == P::kPanelsPerRun - 1;
  }
  static SMITH_INLINE long columns(long panel) { return is_edge(panel) ? P::kEdge : P::kTileN; }
};

}  // namespace

#include "graph/cost.h"

namespace kforge {

GraphCost count_cost(const Graph&) { return {}; }

}  // namespace kforge

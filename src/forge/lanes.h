// Candidates made side by side: while models write some, others are judged. Each candidate runs on a lane,
// from its plan to its decision, as if it were alone; the lane takes care that only one uses the cores at a
// time.
//
// What uses the cores or the workspace always runs on the thread that called run_lanes(): child processes
// belong to the thread that started them.
#pragma once

#include <functional>
#include <vector>

#include "base/result.h"

namespace kforge {

class Lane {
 public:
  using Step = std::function<Result<void>()>;
  virtual ~Lane() = default;
  // Runs the step with the machine to itself, as soon as it is free.
  virtual Result<void> alone(const Step& step) = 0;
  // The same, once every earlier lane has ended: candidates are judged in the order of their numbers.
  virtual Result<void> in_turn(const Step& step) = 0;
};

using LaneWork = std::function<Result<void>(Lane& lane)>;

// Runs all of them to their ends. `side_by_side`: each on a thread of its own; otherwise one after the other
// on this one. After the first Error, which is returned, no further step begins.
Result<void> run_lanes(const std::vector<LaneWork>& work, bool side_by_side);

}  // namespace kforge

#include "verify/floor.h"

#include <gtest/gtest.h>

#include "task/scratch_task.h"

namespace kforge {
namespace {

// A program may keep what it prepared in large pages: the floor of the time is that of the quickest memory.
TEST(Floor, OfAllKindsOfMemoryTheQuickestCounts) {
  ScratchTask scratch(
      "description = \"d\"\n[shapes]\nbench = { N = 1000000 }\nsmall = { N = 10 }\nodd = { N = 7 }\n",
      "g (float[N] x) => (float[N] y) { y = Relu(x) }");
  const BoundTask task = scratch.bind("bench");
  Machine machine;
  machine.caches = {{1, 32 << 10, 1}};
  Peaks peaks;
  peaks.bandwidths = {
      {"L1", 32 << 10, 400, 400}, {"memory in large pages", 0, 40, 80}, {"memory", 0, 30, 40}};
  const TimeFloor floor = time_floor(task, machine, peaks);
  EXPECT_EQ(floor.level, "memory in large pages");
  peaks.bandwidths.erase(peaks.bandwidths.begin() + 1);
  EXPECT_EQ(time_floor(task, machine, peaks).level, "memory");
  EXPECT_NEAR(time_floor(task, machine, peaks).bytes_ns, 2 * floor.bytes_ns, 1);
}

}  // namespace
}  // namespace kforge

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

double floor_bytes(const std::string& graph, const std::string& tensors = "") {
  ScratchTask scratch(
      "description = \"d\"\n[shapes]\nbench = { N = 64 }\nsmall = { N = 10 }\nodd = { N = 7 }\n" + tensors,
      graph);
  return time_floor(scratch.bind("bench"), Machine{}, Peaks{}).bytes;
}

// A program need not read what reaches no result, however many steps lie between.
TEST(Floor, WhatIsLeftOutLaterNeedNotBeRead) {
  EXPECT_EQ(floor_bytes("g (float[N, 100] x) => (float[N, 100] y) { y = Relu(x) }"), 2 * 64 * 100 * 4);
  EXPECT_EQ(floor_bytes("g (float[N, 100] x) => (float[N, 4] y) <int64[1] from = {0}, int64[1] to = {4}, "
                        "int64[1] axis = {1}> { h = Relu(x) y = Slice(h, from, to, axis) }"),
            64 * 4 * 4);
}

TEST(Floor, WindowsThatLieApart) {
  auto pooled = [](int window) {
    return floor_bytes(
        fmt::format("g (float[1, N, 16] x) => (float[1, N, 8] y) "
                    "{{ y = MaxPool <kernel_shape = [{}], strides = [2]> (x) }}",
                    window));
  };
  EXPECT_EQ(pooled(2), 64 * (16 + 8) * 4);
  EXPECT_EQ(pooled(1), 64 * 8 * 4);
}

// Rows written into a cache leave the others where they are.
TEST(Floor, InPlaceOnlyWhatChanges) {
  const std::string cache = "[tensors]\nc = { role = \"inout\", output = \"n\" }\n";
  EXPECT_EQ(floor_bytes("g (float[N, 8] c, float[N, 8] x) => (float[N, 8] n) { n = Add(c, x) }", cache),
            2 * 64 * 8 * 4);
  EXPECT_EQ(floor_bytes("g (float[N, 8] c, float[1, 8] x) => (float[N, 8] n) <int64[1, 1] at = {3}> "
                        "{ n = ScatterND(c, at, x) }",
                        cache),
            0);
}

}  // namespace
}  // namespace kforge

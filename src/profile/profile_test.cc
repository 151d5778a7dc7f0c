#include "profile/profile.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

Machine two_cores() {
  Machine machine;
  machine.cpus = {0, 1};
  machine.caches = {{1, 32 << 10, 1}, {2, 1 << 20, 1}, {3, 32 << 20, 2}};
  return machine;
}

Peaks peaks() {
  Peaks p;
  p.fp32_gflops = 100;
  p.bandwidths = {{"L1", 16 << 10, 400, 400},
                  {"L2", 512 << 10, 200, 200},
                  {"L3", 8 << 20, 100, 100},
                  {"memory", 0, 20, 25}};
  return p;
}

BoundTask work(double flops, double bytes, double written = 0) {
  BoundTask task;
  task.cost.written_bytes = written;
  task.cost.flops = flops;
  task.cost.compulsory_bytes = bytes;
  return task;
}

TEST(Roofline, ManyFlopsPerByteIsComputeBound) {
  RooflinePosition p = roofline_position(work(1e9, 1e6), two_cores(), peaks(), 2e7, true);
  EXPECT_EQ(p.bound, "compute");
  EXPECT_DOUBLE_EQ(p.bound_ns, 1e7);
  EXPECT_DOUBLE_EQ(p.fraction, 0.5);
  EXPECT_DOUBLE_EQ(p.gflops, 50);
}

TEST(Roofline, WhatIsOnlyReadMovesAtTheRateOfReading) {
  RooflinePosition p = roofline_position(work(4.5e6, 1e6), two_cores(), peaks(), 1e5, true);
  EXPECT_EQ(p.bound, "memory");  // at the rate of a copy it would be the arithmetic
  EXPECT_DOUBLE_EQ(p.bound_ns, 1e6 / 20);
  EXPECT_DOUBLE_EQ(p.bandwidth_gb_s, 20);
}

TEST(Roofline, WhatIsReadBeyondWhatIsWrittenMovesAtTheRateOfReading) {
  RooflinePosition p = roofline_position(work(1e3, 1e6, 0.25e6), two_cores(), peaks(), 1e5, true);
  EXPECT_DOUBLE_EQ(p.bound_ns, 0.5e6 / 25 + 0.5e6 / 20);
  EXPECT_DOUBLE_EQ(roofline_position(work(1e3, 1e6, 0.75e6), two_cores(), peaks(), 1e5, true).bound_ns,
                   1e6 / 25);
}

TEST(Roofline, ColdBytesComeFromMemory) {
  RooflinePosition p = roofline_position(work(1e3, 1e6, 0.5e6), two_cores(), peaks(), 1e5, true);
  EXPECT_EQ(p.bound, "memory");
  EXPECT_DOUBLE_EQ(p.bound_ns, 1e6 / 25);
}

TEST(Roofline, WarmBytesComeFromTheLevelThatHoldsThem) {
  EXPECT_EQ(roofline_position(work(1, 60e3), two_cores(), peaks(), 1e3, false).bound, "L1");
  EXPECT_EQ(roofline_position(work(1, 1e6), two_cores(), peaks(), 1e3, false).bound, "L2");
  EXPECT_EQ(roofline_position(work(1, 1e9), two_cores(), peaks(), 1e3, false).bound, "memory");
}

}  // namespace
}  // namespace kforge

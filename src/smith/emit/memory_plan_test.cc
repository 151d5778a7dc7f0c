#include "smith/emit/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace kforge::smith {
namespace {

TEST(MemoryPlan, TensorsThatFollowEachOtherShare) {
  const MemoryPlan plan =
      plan_memory({{"a", 1000, 0, 1}, {"b", 1000, 1, 2}, {"c", 1000, 2, 3}, {"d", 1000, 3, 4}});
  EXPECT_EQ(plan.offsets.at("a"), plan.offsets.at("c"));
  EXPECT_EQ(plan.offsets.at("b"), plan.offsets.at("d"));
  EXPECT_EQ(plan.bytes * 2, plan.apart);
}

TEST(MemoryPlan, NobodyLiesInAnother) {
  std::minstd_rand random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<PlannedBuffer> all;
    for (int i = 0; i < 40; ++i) {
      const std::size_t first = random() % 60;
      all.push_back(
          {"b" + std::to_string(i), static_cast<std::int64_t>(random() % 5000), first, first + random() % 8});
    }
    const MemoryPlan plan = plan_memory(all);
    for (const PlannedBuffer& a : all) {
      EXPECT_EQ(plan.offsets.at(a.name) % 64, 0);
      EXPECT_LE(plan.offsets.at(a.name) + a.bytes, plan.bytes);
      for (const PlannedBuffer& b : all) {
        const bool together = a.first <= b.last && b.first <= a.last;
        if (a.name == b.name || !together) continue;
        const std::int64_t at = plan.offsets.at(a.name), other = plan.offsets.at(b.name);
        EXPECT_TRUE(at + a.bytes <= other || other + b.bytes <= at) << a.name << " and " << b.name;
      }
    }
  }
}

}  // namespace
}  // namespace kforge::smith

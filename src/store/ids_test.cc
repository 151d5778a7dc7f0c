#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/random_seed.h"
#include "store/store.h"

namespace kforge {
namespace {

TEST(ResultIds, SortByTime) {
  std::string before = new_result_id();
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::string after = new_result_id();
    EXPECT_LT(before, after);
    before = after;
  }
}

TEST(ResultIds, AreShortAndDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 50; ++i) ids.insert(new_result_id());
  EXPECT_EQ(ids.size(), 50u);
  for (const std::string& id : ids) EXPECT_EQ(id.size(), 12u);
}

TEST(RandomSeed, Differs) { EXPECT_NE(random_seed(), random_seed()); }

}  // namespace
}  // namespace kforge

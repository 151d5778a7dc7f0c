#include <gtest/gtest.h>

#include "store/store.h"

namespace kforge {
namespace {

class CheckSecretTest : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  Store store_ = *Store::open(folder_.path());
};

TEST_F(CheckSecretTest, IsSharedByEvaluationsOfATask) {
  auto first = store_.next_check_secret("softmax/bench");
  auto second = store_.next_check_secret("softmax/bench");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->seed, second->seed);
  EXPECT_EQ(first->uses, 1);
  EXPECT_EQ(second->uses, 2);
}

TEST_F(CheckSecretTest, DiffersBetweenTasks) {
  EXPECT_NE(store_.next_check_secret("softmax/bench")->seed, store_.next_check_secret("softmax/small")->seed);
}

TEST_F(CheckSecretTest, IsRenewedAfterItsUses) {
  std::uint64_t seed = store_.next_check_secret("t")->seed;
  for (int use = 2; use <= kSecretUses; ++use) ASSERT_EQ(store_.next_check_secret("t")->seed, seed) << use;
  auto renewed = store_.next_check_secret("t");
  EXPECT_NE(renewed->seed, seed);
  EXPECT_EQ(renewed->uses, 1);
}

TEST_F(CheckSecretTest, SurvivesTheProcess) {
  std::uint64_t seed = store_.next_check_secret("t")->seed;
  Store again = *Store::open(folder_.path());
  EXPECT_EQ(again.next_check_secret("t")->seed, seed);
}

TEST_F(CheckSecretTest, DamagedRecordIsReplaced) {
  ASSERT_TRUE(store_.next_check_secret("t"));
  Database database = *Database::open(folder_.path() / "store.db");
  ASSERT_TRUE(database.execute("UPDATE check_secret SET seed = 'not hex', uses = -5"));
  auto secret = store_.next_check_secret("t");
  ASSERT_TRUE(secret);
  EXPECT_EQ(secret->uses, 1);
}

}  // namespace
}  // namespace kforge

#include "oracle/expected_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "task/scratch_task.h"

namespace kforge {
namespace {

class ExpectedCacheTest : public testing::Test {
 protected:
  ExpectedValues get(ExpectedCache& cache, InputKind kind, std::uint64_t secret, bool once = false) {
    auto found = cache.get(task_, kind, secret + static_cast<std::uint64_t>(kind), secret, 1, once);
    EXPECT_TRUE(found) << (found ? "" : found.error().text());
    return found ? *found : ExpectedValues{};
  }

  ScratchTask scratch_{
      "description = \"d\"\n[shapes]\nbench = { N = 100 }\nsmall = { N = 100 }\nodd = { N = 100 }\n",
      "g (float[N] x) => (float[N] y) { y = Exp(x) }"};
  BoundTask task_ = scratch_.bind();
};

TEST_F(ExpectedCacheTest, TheSecondAskerGetsTheSame) {
  ExpectedCache cache(nullptr, 1 << 20);
  ExpectedValues first = get(cache, InputKind::kOwn, 1), second = get(cache, InputKind::kOwn, 1);
  EXPECT_EQ(first.expected, second.expected);
  EXPECT_GT(first.seconds, 0);
  EXPECT_EQ(second.seconds, 0);
  EXPECT_NE(get(cache, InputKind::kNormal, 1).expected, first.expected);
}

TEST_F(ExpectedCacheTest, OfThreadsThatAskAtOnceOneComputes) {
  ExpectedCache cache(nullptr, 1 << 20);
  std::vector<ExpectedValues> found(4);
  {
    std::vector<std::jthread> askers;
    for (ExpectedValues& one : found) askers.emplace_back([&] { one = get(cache, InputKind::kOwn, 1); });
  }
  int computed = 0;
  for (const ExpectedValues& one : found) {
    EXPECT_EQ(one.expected, found[0].expected);
    computed += one.seconds > 0;
  }
  EXPECT_EQ(computed, 1);
}

TEST_F(ExpectedCacheTest, AnotherSecretIsAnotherInput) {
  ExpectedCache cache(nullptr, 1 << 20);
  ExpectedValues first = get(cache, InputKind::kOwn, 1);
  EXPECT_NE(get(cache, InputKind::kOwn, 100).expected, first.expected);
  EXPECT_EQ(first.expected.use_count(), 1) << "what was kept under the old secret is let go";
}

TEST_F(ExpectedCacheTest, KeepsWhatThereIsRoomFor) {
  ExpectedCache cache(nullptr, 500);  // one of 400 bytes
  ExpectedValues first = get(cache, InputKind::kOwn, 1), second = get(cache, InputKind::kNormal, 1);
  EXPECT_EQ(get(cache, InputKind::kOwn, 1).expected, first.expected);
  EXPECT_NE(get(cache, InputKind::kNormal, 1).expected, second.expected);
  ExpectedValues moved = get(cache, InputKind::kNormal, 7);
  EXPECT_EQ(get(cache, InputKind::kNormal, 7).expected, moved.expected) << "the room is free again";
}

}  // namespace
}  // namespace kforge

#include "oracle/truths.h"

#include <gtest/gtest.h>

#include "task/scratch_task.h"

namespace kforge {
namespace {

class TruthsTest : public testing::Test {
 protected:
  Truth get(Truths& truths, InputKind kind, std::uint64_t secret, bool once = false) {
    auto truth = truths.get(task_, kind, secret + static_cast<std::uint64_t>(kind), secret, 1, once);
    EXPECT_TRUE(truth) << (truth ? "" : truth.error().text());
    return truth ? *truth : Truth{};
  }

  ScratchTask scratch_{
      "description = \"d\"\n[shapes]\nbench = { N = 100 }\nsmall = { N = 100 }\nodd = { N = 100 }\n",
      "g (float[N] x) => (float[N] y) { y = Exp(x) }"};
  BoundTask task_ = scratch_.bind();
};

TEST_F(TruthsTest, TheSecondAskerGetsTheSame) {
  Truths truths(nullptr, 1 << 20);
  Truth first = get(truths, InputKind::kOwn, 1), second = get(truths, InputKind::kOwn, 1);
  EXPECT_EQ(first.expected, second.expected);
  EXPECT_GT(first.seconds, 0);
  EXPECT_EQ(second.seconds, 0);
  EXPECT_NE(get(truths, InputKind::kNormal, 1).expected, first.expected);
}

TEST_F(TruthsTest, AnotherSecretIsAnotherTruth) {
  Truths truths(nullptr, 1 << 20);
  Truth first = get(truths, InputKind::kOwn, 1);
  EXPECT_NE(get(truths, InputKind::kOwn, 100).expected, first.expected);
  EXPECT_EQ(first.expected.use_count(), 1) << "what was kept under the old secret is let go";
}

TEST_F(TruthsTest, KeepsWhatThereIsRoomFor) {
  Truths truths(nullptr, 500);  // one of 400 bytes
  Truth first = get(truths, InputKind::kOwn, 1), second = get(truths, InputKind::kNormal, 1);
  EXPECT_EQ(get(truths, InputKind::kOwn, 1).expected, first.expected);
  EXPECT_NE(get(truths, InputKind::kNormal, 1).expected, second.expected);
  Truth moved = get(truths, InputKind::kNormal, 7);
  EXPECT_EQ(get(truths, InputKind::kNormal, 7).expected, moved.expected) << "the room is free again";
}

}  // namespace
}  // namespace kforge

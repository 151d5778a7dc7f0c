#include "base/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(Nearest, Distance) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("falgs", "flags"), 1u);
  EXPECT_EQ(edit_distance("flags", "flags"), 0u);
}

TEST(Nearest, OffersWhatWasMeantAndNothingElse) {
  std::vector<std::string> known = {"softmax", "softplus", "relu", "layernorm", "layernorm_bias"};
  EXPECT_THAT(nearest_words("softmix", known), testing::ElementsAre("softmax"));
  EXPECT_THAT(nearest_words("layern", known), testing::ElementsAre("layernorm", "layernorm_bias"));
  EXPECT_THAT(nearest_words("convolution", known), testing::IsEmpty());
  EXPECT_EQ(did_you_mean("reul", known), " (did you mean 'relu'?)");
  EXPECT_EQ(did_you_mean("zzz", known), "");
}

TEST(Nearest, HugeWordsAreCheap) {
  EXPECT_THAT(nearest_words(std::string(10'000'000, 'x'), {"abc"}), testing::IsEmpty());
}

}  // namespace
}  // namespace kforge

#include "suite/ablation.h"

#include <gmock/gmock.h>

namespace kforge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Ablation, NoneIsOneVariantAsAsked) {
  auto variants = ablation_variants({}, true, false);
  ASSERT_TRUE(variants);
  ASSERT_EQ(variants->size(), 1u);
  EXPECT_EQ(variants->front().name, "");
  EXPECT_TRUE(variants->front().arguments.empty());
}

TEST(Ablation, EachLeavesOutOneThingAndKeepsTheOthers) {
  auto variants = ablation_variants({"reference", "example", "profile"}, true, false);
  ASSERT_TRUE(variants);
  ASSERT_EQ(variants->size(), 4u);
  EXPECT_THAT((*variants)[0].arguments, ElementsAre("--reference", "auto"));
  EXPECT_EQ((*variants)[1].name, "without reference");
  EXPECT_THAT((*variants)[1].arguments, ElementsAre("--without", "reference"));
  EXPECT_THAT((*variants)[2].arguments, ElementsAre("--without", "example", "--reference", "auto"));
  EXPECT_THAT((*variants)[3].arguments,
              ElementsAre("--without", "profile,assembly,advice", "--reference", "auto"));
}

TEST(Ablation, AReferenceThatWasNamedIsKept) {
  auto variants = ablation_variants({"reference"}, true, true);
  ASSERT_TRUE(variants);
  EXPECT_TRUE(variants->front().arguments.empty());
}

TEST(Ablation, SaysWhatChangesNothingForTheBuiltInGenerator) {
  for (const char* name : {"reference", "example"}) {
    auto variants = ablation_variants({name}, false, false);
    ASSERT_FALSE(variants);
    EXPECT_THAT(variants.error().message, HasSubstr("changes nothing for the built-in generator"));
    EXPECT_THAT(variants.error().remedy, HasSubstr("--generator"));
  }
  EXPECT_TRUE(ablation_variants({"profile"}, false, false));
}

TEST(Ablation, AMisspeltOneGetsTheNearest) {
  auto variants = ablation_variants({"profil"}, true, false);
  ASSERT_FALSE(variants);
  EXPECT_THAT(variants.error().message, HasSubstr("did you mean 'profile'?"));
}

}  // namespace
}  // namespace kforge

#include "base/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/subprocess.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Secrets, KnownOnesAreTakenOutOfTextsWhateverTheyLookLike) {
  Secret key("plain words as a key");
  EXPECT_EQ(without_known_secrets("a plain words as a key, twice: plain words as a key"),
            "a [key], twice: [key]");
  EXPECT_EQ(key.reveal(), "plain words as a key");
}

TEST(Secrets, ShortValuesAreLeftAlone) {
  Secret key("none");
  EXPECT_EQ(without_secrets("none of it"), "none of it");
}

TEST(Secrets, WhatLooksLikeAKeyIsMaskedInTextsOfServices) {
  EXPECT_EQ(without_secrets("Incorrect API key provided: sk-proj-abc*****xyz."),
            "Incorrect API key provided: [key]");
  EXPECT_EQ(without_secrets("AIzaSyA1234567890 refused"), "[key] refused");
  EXPECT_EQ(without_secrets("Authorization: Bearer abcdef123456"), "Authorization: Bearer [key]");
  EXPECT_EQ(without_secrets("the task-graph-of-things"), "the task-graph-of-things");
}

TEST(Secrets, VariablesAreKnownByNameAndByValue) {
  EXPECT_TRUE(is_secret_variable("OPENAI_API_KEY", "x"));
  EXPECT_TRUE(is_secret_variable("HF_TOKEN", "x"));
  EXPECT_TRUE(is_secret_variable("LLAMA_API_KEY_2", "x"));
  EXPECT_FALSE(is_secret_variable("PATH", "/bin"));
  EXPECT_FALSE(is_secret_variable("KEYBOARD", "de"));
  EXPECT_FALSE(is_secret_variable("LAB_DOOR", "0123456789abcdef"));
  Secret key("0123456789abcdef");
  EXPECT_TRUE(is_secret_variable("LAB_DOOR", "0123456789abcdef"));
}

TEST(Secrets, ChildrenInheritNone) {
  ::setenv("OPENAI_API_KEY", "sk-test-child-1234567890", 1);
  ::setenv("KFORGE_TEST_HARMLESS", "stays", 1);
  auto done = run_command({.argv = {"env"}});
  ::unsetenv("OPENAI_API_KEY");
  ::unsetenv("KFORGE_TEST_HARMLESS");
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_THAT(done->out, HasSubstr("KFORGE_TEST_HARMLESS=stays"));
  EXPECT_THAT(done->out, Not(HasSubstr("OPENAI_API_KEY")));
  EXPECT_THAT(done->out, Not(HasSubstr("sk-test-child")));
}

}  // namespace
}  // namespace kforge

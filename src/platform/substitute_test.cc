#include "platform/substitute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kforge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Substitutions kValues = {
    {"compiler", {"/usr/bin/g++"}}, {"flags", {"-O3", "-g"}}, {"none", {}}, {"out", {"a b;c.so"}}};

TEST(Substitute, ListsStandAloneAndSinglesAnywhere) {
  auto argv = substitute(
      {"${compiler}", "${flags}", "${none}", "-o", "${out}", "-Wl,-soname=${out}", "$$HOME"}, kValues);
  ASSERT_TRUE(argv);
  EXPECT_THAT(*argv,
              ElementsAre("/usr/bin/g++", "-O3", "-g", "-o", "a b;c.so", "-Wl,-soname=a b;c.so", "$HOME"));
}

TEST(Substitute, SaysWhatIsWrong) {
  EXPECT_THAT(substitute({"${nothing}"}, kValues).error().message, HasSubstr("${nothing}"));
  EXPECT_THAT(substitute({"x${nothing}"}, kValues).error().message, HasSubstr("${nothing}"));
  EXPECT_THAT(substitute({"x${flags}"}, kValues).error().message, HasSubstr("can only stand alone"));
  EXPECT_THAT(substitute({"${flags"}, kValues).error().message, HasSubstr("no closing brace"));
  EXPECT_THAT(substitute({"$HOME"}, kValues).error().message, HasSubstr("$$"));
}

TEST(Substitute, ValuesAreNotSubstitutedAgain) {
  auto argv = substitute({"${a}", "x${a}"}, {{"a", {"${a}$$"}}});
  ASSERT_TRUE(argv);
  EXPECT_THAT(*argv, ElementsAre("${a}$$", "x${a}$$"));
}

TEST(Substitute, Variables) {
  EXPECT_THAT(variables_in("-I${include}/${x}$$").value(), ElementsAre("include", "x"));
  EXPECT_FALSE(variables_in("${x"));
}

}  // namespace
}  // namespace kforge

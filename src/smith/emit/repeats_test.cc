#include "smith/emit/repeats.h"

#include <gtest/gtest.h>

namespace kforge::smith {
namespace {

Skeleton of(std::string_view text, const std::set<std::string>& names) {
  return skeleton_of(text, [&](std::string_view word) { return names.contains(std::string(word)); });
}

TEST(Repeats, TextsThatDifferInNamesAreAlike) {
  const Skeleton a = of("y[i] = x[i] + w[3];  // the first\n", {"x", "y", "w"});
  const Skeleton b = of("b[i] = a[i] + c[3];  // the second\n", {"a", "b", "c"});
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.names, (std::vector<std::string>{"y", "x", "w"}));
  EXPECT_EQ(b.names, (std::vector<std::string>{"b", "a", "c"}));
}

TEST(Repeats, OtherNumbersFunctionsAndRolesAreNotAlike) {
  const std::string shape = of("y[i] = f(x[i]) + w[3] + w[4];", {"x", "y", "w"}).shape;
  EXPECT_NE(shape, of("y[i] = f(x[i]) + w[3] + w[5];", {"x", "y", "w"}).shape);
  EXPECT_NE(shape, of("y[i] = g(x[i]) + w[3] + w[4];", {"x", "y", "w"}).shape);
  EXPECT_NE(shape, of("y[i] = f(x[i]) + w[3] + x[4];", {"x", "y", "w"}).shape);  // one tensor less
  EXPECT_NE(shape, of("y[i] = f(x[i]) + w[3] + v[4];", {"x", "y", "w", "v"}).shape);
}

TEST(Repeats, NumbersAndCommentsAreNoWords) {
  EXPECT_EQ(words_of("f(1e-05f, x_1, 0x1f);  // says nothing\nz"), (std::set<std::string>{"f", "x_1", "z"}));
}

TEST(Repeats, IntermediateResultsBelongToTheirTensor) {
  EXPECT_EQ(numbered_stem("x_12"), "x");
  EXPECT_EQ(numbered_stem("x__3"), "x_");
  EXPECT_EQ(numbered_stem("x"), "");
  EXPECT_EQ(numbered_stem("t12"), "");
}

}  // namespace
}  // namespace kforge::smith

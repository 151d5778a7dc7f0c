#include "import/unify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/own_model.h"

namespace kforge {
namespace {

using testing::HasSubstr;

Graph graph(const std::string& text) {
  auto parsed = parse_graph_text(text, "test");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : Graph{};
}

std::string product(int m, int k) {
  return fmt::format("g (float[{0}, {1}] x, float[{1}, 4] w) => (float[{0}, 4] y) {{ y = MatMul(x, w) }}", m,
                     k);
}

TEST(Unify, SizesOfInputsBecomeSymbols) {
  Graph base = graph(product(16, 32));
  auto rows = places_of_symbol(base, 16, graph(product(17, 32)), 17);
  auto inner = places_of_symbol(base, 32, graph(product(16, 33)), 33);
  ASSERT_TRUE(rows && inner);
  EXPECT_EQ(inner->dims.size(), 2u);
  auto made = with_symbols(base, {{"M", *rows}, {"K", *inner}});
  ASSERT_TRUE(made);
  auto bound = bind_dims(*made, {{"M", 3}, {"K", 5}});
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(bound->types.at("y").shape(), (Shape{3, 4}));
}

std::string reshaped(int batch, int height, const std::string& target) {
  return fmt::format(
      "g (float[{}, {}, 6] x) => (float[A, C] y) <int64[2] t = {{{}}}> {{ y = Reshape(x, t) }}", batch,
      height, target);
}

TEST(Unify, TargetsOfReshapeFollow) {
  Graph base = graph(reshaped(16, 8, "16, 48"));
  auto batch = places_of_symbol(base, 16, graph(reshaped(17, 8, "17, 48")), 17);
  auto height = places_of_symbol(base, 8, graph(reshaped(16, 9, "16, 54")), 9);
  ASSERT_TRUE(batch && height);
  EXPECT_EQ(batch->elements.size(), 1u);
  EXPECT_EQ(height->follow.size(), 1u);
  auto made = with_symbols(base, {{"B", *batch}, {"H", *height}});
  ASSERT_TRUE(made);
  auto bound = bind_dims(*made, {{"B", 5}, {"H", 7}});
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(bound->types.at("y").shape(), (Shape{5, 42}));
  // The same after a way through a file.
  EXPECT_TRUE(to_own_model(*made));
}

TEST(Unify, TwoComputedSizesCannotBothBeInferred) {
  Graph base = graph(reshaped(16, 8, "32, 24"));
  auto height = places_of_symbol(base, 8, graph(reshaped(16, 10, "40, 24")), 10);
  auto batch = places_of_symbol(base, 16, graph(reshaped(18, 8, "32, 27")), 18);
  ASSERT_TRUE(batch && height);
  auto made = with_symbols(base, {{"B", *batch}, {"H", *height}});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().second, HasSubstr("computed from it"));
}

TEST(Unify, TablesOfOneValueGrow) {
  Graph base =
      graph("g (float[2, 4] x) => (float[2, 5] y) <float[2, 1] z = {0, 0}> { y = Concat<axis = 1>(z, x) }");
  Graph other = graph(
      "g (float[3, 4] x) => (float[3, 5] y) <float[3, 1] z = {0, 0, 0}> { y = Concat<axis = 1>(z, x) }");
  auto places = places_of_symbol(base, 2, other, 3);
  ASSERT_TRUE(places) << places.error();
  auto made = with_symbols(base, {{"B", *places}});
  ASSERT_TRUE(made);
  auto bound = bind_dims(*made, {{"B", 7}});
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(bound->types.at("y").shape(), (Shape{7, 5}));
}

struct Difference {
  const char *base, *other, *says;
};
class UnifyRefuses : public testing::TestWithParam<Difference> {};
TEST_P(UnifyRefuses, WhatIsNoSize) {
  auto places = places_of_symbol(graph(GetParam().base), 2, graph(GetParam().other), 3);
  ASSERT_FALSE(places);
  EXPECT_THAT(places.error(), HasSubstr(GetParam().says));
}
INSTANTIATE_TEST_SUITE_P(
    All, UnifyRefuses,
    testing::Values(Difference{"g (float[2] x) => (float[2] y) { y = Elu<alpha = 2.0>(x) }",
                               "g (float[3] x) => (float[3] y) { y = Elu<alpha = 3.0>(x) }",
                               "attribute alpha of Elu"},
                    Difference{"g (float[2] x) => (float[2] y) { y = Relu(x) }",
                               "g (float[3] x) => (float[3] y) { y = Neg(x) }", "Relu becomes Neg"},
                    Difference{"g (float[2] x) => (float[2] y) { y = Relu(x) }",
                               "g (float[3] x) => (float[3] y) { a = Relu(x) y = Relu(a) }",
                               "other operators"},
                    Difference{"g (float[4] x) => (float[4] y) { y = Relu(x) }",
                               "g (float[6] x) => (float[6] y) { y = Relu(x) }", "computed from it"},
                    Difference{"g (float[2] x) => (float[2] y) <float c = {0.5}> { y = Mul(x, c) }",
                               "g (float[3] x) => (float[3] y) <float c = {0.3}> { y = Mul(x, c) }",
                               "constant is computed"},
                    Difference{"g (float[5] x) => (float[5] y) { y = Relu(x) }",
                               "g (float[5] x) => (float[5] y) { y = Relu(x) }", "no size of an input"}));

}  // namespace
}  // namespace kforge

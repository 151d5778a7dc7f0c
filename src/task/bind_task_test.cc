#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "task/scratch_task.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using Kind = Distribution::Kind;

#define SHAPES(dims) \
  "description = \"d\"\n[shapes]\nbench = { " dims " }\nsmall = { " dims " }\nodd = { " dims " }\n"

TEST(BindTask, WeightsAreScaledByWhatIsSummed) {
  ScratchTask scratch(
      SHAPES("B = 2, K = 64, N = 3") "[tensors.w]\nrole = \"param\"\n[tensors.b]\nrole = \"param\"\n",
      "g (float[B, K] x, float[N, K] w, float[N] b) => (float[B, N] y) { y = Gemm <transB = 1> (x, w, b) }");
  BoundTask bound = scratch.bind();
  EXPECT_EQ(bound.arguments[0].distribution.kind, Kind::kUniform);
  EXPECT_EQ(bound.arguments[1].distribution.kind, Kind::kNormal);
  EXPECT_DOUBLE_EQ(bound.arguments[1].distribution.b, 1 / 8.0);
  EXPECT_EQ(bound.arguments[2].distribution.kind, Kind::kUniform);
  EXPECT_EQ(bound.cost.flops, 2.0 * 2 * 64 * 3 + 6);
}

TEST(BindTask, ConvolutionAndNormalisation) {
  ScratchTask scratch(SHAPES("N = 1") "[tensors.w]\nrole = \"param\"\n",
                      "g (float[N, 4, 8, 8] x, float[6, 4, 3, 3] w, float[6] s, float[6] b, float[6] m, "
                      "float[6] v) => (float[N, 6, H, W] y)"
                      "{ c = Conv(x, w) y = BatchNormalization(c, s, b, m, v) }");
  BoundTask bound = scratch.bind();
  EXPECT_DOUBLE_EQ(bound.arguments[1].distribution.b, 1 / std::sqrt(36.0));
  EXPECT_EQ(bound.arguments[2].distribution.a, 0.5);
  EXPECT_EQ(bound.arguments[5].distribution.kind, Kind::kPositive);
  EXPECT_EQ(to_string(bound.arguments.back().shape), "[1,6,6,6]");
}

struct IndexCase {
  const char* graph;
  std::int64_t limit;
};
class IndexLimit : public testing::TestWithParam<IndexCase> {};
TEST_P(IndexLimit, IsFound) {
  ScratchTask scratch(SHAPES("B = 2"), GetParam().graph);
  BoundTask bound = scratch.bind();
  const BoundArgument* index = nullptr;
  for (const BoundArgument& argument : bound.arguments)
    if (argument.name == "i") index = &argument;
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->index_limit, GetParam().limit);
  if (GetParam().limit > 0) {
    EXPECT_EQ(index->distribution.kind, Kind::kInteger);
    EXPECT_EQ(index->distribution.b, static_cast<double>(GetParam().limit));
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, IndexLimit,
    testing::Values(
        IndexCase{"g (float[7, 3] t, int64[B] i) => (float[B, 3] y) { y = Gather(t, i) }", 7},
        IndexCase{"g (float[7, 3] t, int64[B] i) => (float[7, B] y) { y = Gather <axis = -1> (t, i) }", 3},
        IndexCase{
            "g (float[7, 3] t, int32[B] i) => (float[B, 3] y) { j = Cast <to = 7> (i) y = Gather(t, j) }", 7},
        IndexCase{"g (float[B, 5] x, int64[B] i) => (float y) { y = SoftmaxCrossEntropyLoss(x, i) }", 5},
        IndexCase{"g (float[B, 5] x, int64[B] i) => (float y) { y = NegativeLogLikelihoodLoss(x, i) }", 5},
        IndexCase{
            "g (float[4, 5] x, int64[4, B] i) => (float[4, B] y) { y = GatherElements <axis = 1> (x, i) }",
            5},
        IndexCase{"g (float[4, 5] x, int64[B, 2] i) => (float[B] y) { y = GatherND (x, i) }", 4},
        IndexCase{"g (float[4, 5] x, int64[B, 1] r, int64[B, 1] i) => (float[B] y) { t = Concat <axis = 1> "
                  "(r, i) y = GatherND (x, t) }",
                  5},
        IndexCase{"g (float[9] x, int64[B] i, float[B] u) => (float[9] y) { y = ScatterElements (x, i, u) }",
                  9},
        IndexCase{
            "g (int64[B] i) => (float[B, 6] y) <int64 d = {6}, float[2] v = {0, 1}> { y = OneHot (i, d, v) }",
            6},
        IndexCase{"g (int64[B] i) => (int64[B] y) { y = Abs(i) }", 0}));

TEST(BindTask, IndicesPastTheEndAreRefused) {
  ScratchTask scratch(SHAPES("B = 2") "[tensors.i]\nvalues = \"integer(0, 8)\"\n",
                      "g (float[7, 3] t, int64[B] i) => (float[B, 3] y) { y = Gather(t, i) }");
  auto bound = bind_task(scratch.task(), "small");
  ASSERT_FALSE(bound);
  EXPECT_THAT(bound.error().message, HasSubstr("indexes a dimension of 7"));
}

TEST(BindTask, BoundsThatAreDimensions) {
  ScratchTask scratch(SHAPES("B = 2, V = 11") "[tensors.i]\nvalues = \"integer(1, V)\"\n",
                      "g (int64[B] i) => (int64[B] y) { y = Abs(i) }");
  EXPECT_EQ(scratch.bind().arguments[0].distribution.b, 11);
}

TEST(BindTask, UnknownSetsAndCases) {
  ScratchTask scratch(SHAPES("B = 2"), "g (float[B] x) => (float[B] y) { y = Relu(x) }");
  EXPECT_THAT(bind_task(scratch.task(), "huge").error().message, HasSubstr("has bench, odd, small"));
  EXPECT_FALSE(bind_task(scratch.task(), "bench", 1));
}

TEST(BindTask, KeyDependsOnDimensionsAndContent) {
  ScratchTask one("description = \"d\"\n[shapes]\nbench = { B = 8 }\nsmall = { B = 2 }\nodd = { B = 3 }\n",
                  "g (float[B] x) => (float[B] y) { y = Relu(x) }");
  ScratchTask two("description = \"e\"\n[shapes]\nbench = { B = 8 }\nsmall = { B = 2 }\nodd = { B = 3 }\n",
                  "g (float[B] x) => (float[B] y) { y = Relu(x) }");
  EXPECT_NE(one.bind("small").key(), one.bind("odd").key());
  EXPECT_NE(one.bind("small").key(), two.bind("small").key());
  EXPECT_EQ(one.bind("small").key(), one.bind("small").key());
}

TEST(HiddenShape, DiffersFromNamedOnesAndFits) {
  ScratchTask scratch(
      "description = \"d\"\n[shapes]\nbench = { B = 64, E = 64 }\nsmall = { B = 4, E = 16 }\nodd = { B = 7, "
      "E = 24 }\n",
      "g (float[B, E] x) => (float[B, 8, F] y) <int64[3] t = {0, 8, -1}> { y = Reshape(x, t) }");
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto shapes = bind_hidden_shapes(scratch.task(), seed);
    ASSERT_TRUE(shapes) << shapes.error().message;
    for (const BoundTask& hidden : *shapes) {
      EXPECT_EQ(hidden.shape_set, "hidden");
      EXPECT_EQ(hidden.shape_case.dims.at("E") % 8, 0);
      EXPECT_NE(hidden.key(), scratch.bind("small").key());
      EXPECT_NE(hidden.key(), scratch.bind("odd").key());
      seen.insert(hidden.key());
    }
  }
  EXPECT_GT(seen.size(), 1u);
}

// Windows of four in rows of one to four: shapes without any result are not drawn.
TEST(HiddenShape, NothingIsEmpty) {
  ScratchTask scratch(
      "description = \"d\"\n[shapes]\nbench = { B = 64, L = 999 }\nsmall = { B = 2, L = 4 }\n"
      "odd = { B = 3, L = 5 }\n",
      "g (float[B, 1, L] x) => (float[B, 1, M] y) { y = MaxPool <kernel_shape = [4]> (x) }");
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    auto shapes = bind_hidden_shapes(scratch.task(), seed);
    ASSERT_TRUE(shapes) << shapes.error().message;
    for (const BoundTask& hidden : *shapes)
      for (const BoundArgument& argument : hidden.arguments) EXPECT_GT(element_count(argument.shape), 0);
  }
}

constexpr const char* kRowShapes =
    "description = \"d\"\n[shapes]\nbench = { B = 2048, D = 8192 }\nsmall = { B = 16, D = 128 }\n"
    "odd = { B = 7, D = 61 }\n";
constexpr const char* kRowSoftmax = "g (float[B, D] x) => (float[B, D] y) { y = Softmax(x) }";

// A program that is wrong for single rows only is not general.
TEST(HiddenShape, EveryDimensionIsOneOnce) {
  ScratchTask scratch(kRowShapes, kRowSoftmax);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto shapes = bind_hidden_shapes(scratch.task(), seed);
    ASSERT_TRUE(shapes) << shapes.error().message;
    for (const char* symbol : {"B", "D"})
      EXPECT_TRUE(std::ranges::any_of(
          *shapes, [&](const BoundTask& hidden) { return hidden.shape_case.dims.at(symbol) == 1; }))
          << symbol << ", seed " << seed;
  }
}

TEST(HiddenShape, EveryDimensionIsLongOnce) {
  ScratchTask scratch(kRowShapes, kRowSoftmax);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto shapes = bind_hidden_shapes(scratch.task(), seed);
    ASSERT_TRUE(shapes) << shapes.error().message;
    std::int64_t longest_b = 0, longest_d = 0;
    for (const BoundTask& hidden : *shapes) {
      longest_b = std::max(longest_b, hidden.shape_case.dims.at("B"));
      longest_d = std::max(longest_d, hidden.shape_case.dims.at("D"));
      EXPECT_NE(hidden.shape_case.dims.at("D"), 8192);
      EXPECT_LE(hidden.cost.unfused_bytes, 24e6);
    }
    EXPECT_GT(longest_b, 2048);
    EXPECT_GT(longest_d, 8192);
  }
}

TEST(BindTask, UpdateInPlaceNeedsOnlyWhatIsHit) {
  ScratchTask scratch(
      SHAPES("B = 2") "[tensors.x]\nrole = \"inout\"\noutput = \"y\"\n",
      "g (float[1000, 4] x, int64[B, 1] i, float[B, 4] u) => (float[1000, 4] y) { y = ScatterND (x, i, u) }");
  EXPECT_EQ(scratch.bind().cost.compulsory_bytes, 2 * (2 * 4 * 4) + 2 * 8);
}

}  // namespace
}  // namespace kforge

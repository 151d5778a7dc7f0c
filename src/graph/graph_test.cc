// What other parts read of a graph: costs, JSON, listing, folding.
#include "graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/cost.h"

namespace kforge {
namespace {

using testing::HasSubstr;

Graph bound(std::string_view text) {
  auto graph = parse_graph_text(text, "t");
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  if (!graph) return {};
  auto out = bind_dims(*graph, {});
  EXPECT_TRUE(out) << (out ? "" : out.error().message);
  return out ? *out : Graph();
}

struct CostCase {
  const char* name;
  const char* graph;
  double flops, compulsory;
};
class Cost : public testing::TestWithParam<CostCase> {};
TEST_P(Cost, IsCounted) {
  GraphCost cost = count_cost(bound(GetParam().graph));
  EXPECT_EQ(cost.flops, GetParam().flops);
  EXPECT_EQ(cost.compulsory_bytes, GetParam().compulsory);
}
INSTANTIATE_TEST_SUITE_P(
    All, Cost,
    testing::Values(
        CostCase{"MatMul", "g (float[3, 5] a, float[5, 7] b) => (float[3, 7] y) { y = MatMul(a, b) }",
                 2 * 3 * 5 * 7, 4 * (15 + 35 + 21)},
        CostCase{"Gemm",
                 "g (float[5, 3] a, float[7, 5] b, float[7] c) => (float[3, 7] y) { y = Gemm <transA = 1, "
                 "transB = 1> (a, b, c) }",
                 2 * 3 * 5 * 7 + 21, 4 * (15 + 35 + 7 + 21)},
        CostCase{"Einsum",
                 "g (float[2, 3, 4] a, float[2, 4, 5] b) => (float[2, 3, 5] y) { y = Einsum <equation = "
                 "\"bij,bjk->bik\"> (a, b) }",
                 2 * 2 * 3 * 4 * 5, 4 * (24 + 40 + 30)},
        CostCase{"Conv",
                 "g (float[1, 4, 6, 6] x, float[8, 2, 3, 3] w, float[8] b) => (float[1, 8, 4, 4] y) { y = "
                 "Conv <group = 2> (x, w, b) }",
                 128 * (2 * 18 + 1), 4 * (144 + 144 + 8 + 128)},
        CostCase{"StridedPointwiseConv",
                 "g (float[1, 4, 6, 6] x, float[8, 4, 1, 1] w) => (float[1, 8, 3, 3] y) { y = Conv <strides "
                 "= [2, 2]> (x, w) }",
                 72 * 8, 4 * (36 + 32 + 72)},
        CostCase{"ConvTranspose",
                 "g (float[1, 4, 5] x, float[4, 2, 3] w) => (float[1, 2, 7] y) { y = ConvTranspose (x, w) }",
                 2 * 20 * 6, 4 * (20 + 24 + 14)},
        CostCase{"MaxPool",
                 "g (float[1, 1, 8, 8] x) => (float[1, 1, 4, 4] y) { y = MaxPool <kernel_shape = [2, 2], "
                 "strides = [2, 2]> (x) }",
                 64, 4 * 80},
        CostCase{"Elementwise", "g (float[10] x) => (float[10] y) { a = Exp(x) y = Mul(a, x) }", 20, 80},
        CostCase{"Softmax", "g (float[2, 5] x) => (float[2, 5] y) { y = Softmax(x) }", 50, 80},
        CostCase{"Reduction", "g (float[2, 5] x) => (float[2, 1] y) { y = ReduceMax <axes = [1]> (x) }", 10,
                 48},
        CostCase{"Movement", "g (float[2, 5] x) => (float[5, 2] y) { y = Transpose(x) }", 0, 80},
        CostCase{"Embedding", "g (float[1000, 4] t, int64[3] i) => (float[3, 4] y) { y = Gather(t, i) }", 0,
                 4 * 12 + 24 + 4 * 12},
        CostCase{"Triangle", "g (float[4, 4] x) => (float[4, 4] y) { y = Trilu <upper = 0> (x) }", 0,
                 4 * (10 + 16)},
        CostCase{"Unused", "g (float[4] x, float[1000] z) => (float[4] y) { y = Relu(x) }", 4, 32},
        CostCase{"Lstm",
                 "g (float[5, 2, 3] x, float[1, 16, 3] w, float[1, 16, 4] r) => (float[5, 1, 2, 4] y) { y = "
                 "LSTM <hidden_size = 4> (x, w, r) }",
                 5 * 2 * 4 * 4 * (2 * 3 + 2 * 4 + 4), 4 * (30 + 48 + 64 + 40)},
        CostCase{"Bfloat16", "g (bfloat16[10] x) => (bfloat16[10] y) { y = Relu(x) }", 10, 40}),
    [](const auto& info) { return info.param.name; });

TEST(Cost, ViewsAreFree) {
  GraphCost cost = count_cost(
      bound("g (float[2, 5] x) => (float[10] y) <int64[1] t = {-1}> { r = Relu(x) y = Reshape(r, t) }"));
  ASSERT_EQ(cost.nodes.size(), 2u);
  EXPECT_EQ(cost.nodes[0].bytes, 80);
  EXPECT_EQ(cost.nodes[1].bytes, 0);
  EXPECT_EQ(cost.intensity(), 10.0 / 80);
}

struct FoldCase {
  const char* name;
  const char* nodes;     // make the int64 value v from x float[2,3,4]
  const char* expected;  // in the listing
};
class Fold : public testing::TestWithParam<FoldCase> {};
TEST_P(Fold, IsConstant) {
  std::string text = fmt::format(
      "g (float[2, 3, 4] x) => (float[P, Q] y) <int64 i0 = {{0}}, int64 i1 = {{1}}, int64 i2 = {{2}}, "
      "int64[1] v0 = {{0}}, int64[1] v1 = {{1}}, int64[1] v2 = {{2}}, int64[1] m1 = {{-1}}> "
      "{{ s = Shape(x) {} t = Concat <axis = 0> (v, m1) y = Reshape(x, t) }}",
      GetParam().nodes);
  EXPECT_THAT(print_graph(bound(text)), HasSubstr(GetParam().expected));
}
INSTANTIATE_TEST_SUITE_P(
    All, Fold,
    testing::Values(
        FoldCase{"Gather", "a = Gather(s, i2) v = Unsqueeze(a, v0)", "y : float32[4,6]"},
        FoldCase{"Slice", "v = Slice(s, v1, v2)", "y : float32[3,8]"},
        FoldCase{"SliceBackwards", "v = Slice(s, m1, v1, v0, m1)", "y : float32[4,6]"},
        FoldCase{"Mul", "a = Gather(s, v1) v = Mul(a, v2)", "y : float32[6,4]"},
        FoldCase{"Div", "a = Gather(s, v2) v = Div(a, v2)", "y : float32[2,12]"},
        FoldCase{"Add", "a = Gather(s, v1) v = Add(a, v1)", "y : float32[4,6]"},
        FoldCase{"Sub", "a = Gather(s, v1) v = Sub(a, v1)", "y : float32[2,12]"},
        FoldCase{"Mod", "a = Gather(s, v2) b = Gather(s, v1) c = Mod(a, b) v = Add(c, v1)",
                 "y : float32[2,12]"},
        FoldCase{"Neg", "a = Neg(m1) v = Add(a, v1)", "y : float32[2,12]"},
        FoldCase{"Cast", "a = Cast <to = 6> (s) b = Cast <to = 7> (a) v = Gather(b, v1)", "y : float32[3,8]"},
        FoldCase{"ReduceProd", "a = Slice(s, v1, v2) v = ReduceProd(a)", "y : float32[3,8]"},
        FoldCase{"Range", "a = Range(i1, i2, i1) v = Add(a, v1)", "y : float32[2,12]"},
        FoldCase{"Size", "a = Size(s) v = Unsqueeze(a, v0)", "y : float32[3,8]"},
        FoldCase{"ConstantOfShape", "v = ConstantOfShape <value = int64[1] {6}> (v1)", "y : float32[6,4]"},
        FoldCase{"Where", "a = Gather(s, v0) c = Equal(a, v2) v = Where(c, v2, v1)", "y : float32[2,12]"},
        FoldCase{"Squeeze", "a = Gather(s, v1) b = Squeeze(a, v0) v = Reshape(b, m1)", "y : float32[3,8]"},
        FoldCase{"Max", "a = Gather(s, v1) v = Max(a, v2)", "y : float32[3,8]"}),
    [](const auto& info) { return info.param.name; });

TEST(Fold, ConstantsThatAreOutputsStayNodes) {
  Graph graph = bound("g (float[2] x) => (int64[1] s) { s = Shape(x) }");
  EXPECT_EQ(graph.nodes.size(), 1u);
}

TEST(Initializers, ShapesAndScalarsAreFoldedWeightsAreNot) {
  Graph graph = bound(
      "g (float[2, 4] x) => (float[8] y) <float[4] w = {1, 2, 3, 4}, float[1] one = {2}, float half = {0.5}, "
      "int64[1] t = {-1}>"
      "{ a = Mul(x, w) b = Mul(a, one) c = Mul(b, half) y = Reshape(c, t) }");
  EXPECT_FALSE(graph.find_initializer("w")->folded);
  EXPECT_TRUE(graph.find_initializer("one")->folded);
  EXPECT_TRUE(graph.find_initializer("half")->folded);
  EXPECT_TRUE(graph.find_initializer("t")->folded);
}

TEST(Json, HasWhatPythonNeeds) {
  Graph graph = bound(
      "g (float[2, 4] x) => (float[2, 4] y) <float[4] w = {1, 2, 3, 4}, float e = {0.5}> { a = Mul(x, w) b = "
      "Mul(a, e) y = kforge.Gelu <approximate = \"tanh\"> (b) }");
  auto json = nlohmann::json::parse(to_json(graph));
  EXPECT_EQ(json["inputs"][0]["name"], "x");
  EXPECT_EQ(json["inputs"][0]["shape"], (std::vector<int>{2, 4}));
  EXPECT_EQ(json["nodes"][2]["attributes"]["approximate"], "tanh");
  EXPECT_EQ(json["nodes"][2]["domain"], "kforge");
  EXPECT_EQ(json["types"]["a"]["dtype"], "float32");
  for (const auto& initializer : json["initializers"])
    EXPECT_EQ(initializer.contains("values"), initializer["folded"].get<bool>());
}

TEST(ConstantTensor, ReadsEveryType) {
  Graph graph = bound(
      "g (float[1] x) => (float[1] y) <int8[2] i = {-1, 3}, uint8[2] u = {1, 255}, double[1] d = {0.1}, "
      "bool[2] b = {0, 1}> { y = Relu(x) }");
  ASSERT_EQ(graph.initializers.size(), 4u);
  EXPECT_EQ(graph.find_initializer("i")->tensor.as_int64(), (std::vector<std::int64_t>{-1, 3}));
  EXPECT_EQ(graph.find_initializer("u")->tensor.as_int64(), (std::vector<std::int64_t>{1, 255}));
  EXPECT_EQ(graph.find_initializer("d")->tensor.as_double(), (std::vector<double>{0.1}));
}

}  // namespace
}  // namespace kforge

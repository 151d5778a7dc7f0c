#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/graph.h"

namespace kforge {
namespace {

using testing::HasSubstr;

Graph parsed(std::string_view text) {
  auto graph = parse_graph_text(text, "test");
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph();
}

TEST(LoadGraph, TextWithoutHeader) {
  Graph graph = parsed("softmax (float[B, D] x) => (float[B, D] y) { y = Softmax <axis = -1> (x) }");
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].int_attr("axis", 0), -1);
  EXPECT_EQ(to_string(graph.types.at("y")), "float32[B,D]");
}

TEST(LoadGraph, KforgeOperatorsNeedNoDeclaration) {
  Graph graph =
      parsed("g (float[B, D] x) => (float[B, D] y) { y = kforge.Gelu <approximate = \"tanh\"> (x) }");
  EXPECT_EQ(graph.nodes[0].domain, "kforge");
  EXPECT_EQ(to_string(graph.types.at("y")), "float32[B,D]");
}

TEST(BindDims, ShapeArithmeticBecomesConcrete) {
  Graph graph = parsed(R"(
    heads (float[B, S, E] x) => (float[P, Q, R, T] y) {
      shape = Shape(x)
      two = Constant <value = int64[1] {2}> ()
      index = Constant <value = int64 {2}> ()
      e = Gather(shape, index)
      axis = Constant <value = int64[1] {0}> ()
      e1 = Unsqueeze(e, axis)
      half = Div(e1, two)
      keep = Constant <value = int64[2] {0, 0}> ()
      target = Concat <axis = 0> (keep, two, half)
      y = Reshape(x, target)
    })");
  auto bound = bind_dims(graph, {{"B", 3}, {"S", 5}, {"E", 8}});
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(to_string(bound->types.at("y")), "float32[3,5,2,4]");
  EXPECT_EQ(bound->nodes.size(), 1u) << print_graph(*bound);
}

TEST(BindDims, DimsOperator) {
  Graph graph = parsed(R"(
    heads (float[B, E] x) => (float[B, H, D] y) {
      target = kforge.Dims <of = ["B", "H", "-1"]> ()
      y = Reshape(x, target)
    })");
  auto bound = bind_dims(graph, {{"B", 3}, {"E", 8}, {"H", 2}});
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(to_string(bound->types.at("y")), "float32[3,2,4]");
  auto missing = bind_dims(graph, {{"B", 3}, {"E", 8}});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("'H'"));
}

TEST(LoadGraph, Bfloat16WhereOpset17RefusesIt) {
  Graph graph = parsed(R"(
    g (bfloat16[B, D] x, bfloat16[D, N] w) => (bfloat16[B, N] y) {
      h = MatMul(x, w)
      y = Softmax(h)
    })");
  EXPECT_EQ(graph.types.at("y").dtype, DType::kBFloat16);
  auto mixed = parse_graph_text("g (bfloat16[B] x, float[B] w) => (float[B] y) { y = Add(x, w) }", "test");
  ASSERT_FALSE(mixed);
  EXPECT_THAT(mixed.error().message, HasSubstr("bfloat16"));
}

TEST(ToOnnx, FunctionsForKforgeOperators) {
  Graph graph = parsed(R"(
    g (float[2, 4, 3] x, float[4] s, float[4] b) => (float[2, 4, 3] y, float[2, 4, 3] z) {
      a = kforge.Gelu <approximate = "tanh"> (x)
      c = kforge.Gelu (a)
      d = kforge.GroupNormalization <num_groups = 2> (c, s, b)
      axis = Constant <value = int64 {1}> ()
      y = kforge.CumProd <exclusive = 1> (d, axis)
      e = kforge.Swish <alpha = 1.5> (d)
      f = kforge.RMSNormalization <axis = 1> (e, x)
      z = kforge.Mish (f)
    })");
  auto model = to_onnx_model(graph);
  ASSERT_TRUE(model) << model.error().message;
}

}  // namespace
}  // namespace kforge

// Sums moved through products: they mean the same, they move only where that is exact and less work, and the
// program says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "oracle/oracle.h"
#include "smith/graph/passes.h"
#include "smith/graph/push_sums.h"
#include "smith/loops/interpret.h"

namespace kforge {
namespace {

struct Pushed {
  smith::Program program;
  bool moved = false;
  double worst = 0;  // largest difference from the oracle
};

// The input is x; w, b and c, where the text has them, are params; the output is y.
Pushed pushed(const std::string& text) {
  auto graph = parse_graph_text("<ir_version: 8, opset_import: [\"\" : 17]>\n" + text, "algebra");
  EXPECT_TRUE(graph) << graph.error().text();
  auto bound = bind_dims(*graph, {});
  EXPECT_TRUE(bound) << bound.error().text();
  smith::Problem problem;
  problem.name = "algebra";
  problem.graph = *bound;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<std::vector<float>> data;
  std::vector<TensorView> views;
  std::map<std::string, std::vector<double>> memory;
  for (const auto& input : bound->inputs) {
    auto& tensor = data.emplace_back(static_cast<std::size_t>(element_count(input.type.shape())));
    for (float& v : tensor) v = values(random);
    memory[input.name].assign(tensor.begin(), tensor.end());
    const auto role = input.name == "x" ? smith::ArgumentRole::kInput : smith::ArgumentRole::kParam;
    problem.arguments.push_back({input.name, input.name, "", role, DType::kFloat32, input.type.shape(), {}});
  }
  for (std::size_t i = 0; i < data.size(); ++i)
    views.push_back({bound->inputs[i].name, DType::kFloat32, bound->inputs[i].type.shape(),
                     reinterpret_cast<const std::byte*>(data[i].data())});
  problem.arguments.push_back(
      {"y", "y", "", smith::ArgumentRole::kOutput, DType::kFloat32, bound->types.at("y").shape(), {}});
  auto program = smith::lower(problem);
  EXPECT_TRUE(program) << program.error().text();
  Pushed result{smith::push_sums(smith::prune(*program))};
  result.moved = !result.program.algebra.empty();
  auto ran = smith::interpret(smith::build_nest(smith::tidy_dimensions(result.program)), memory, 3);
  EXPECT_TRUE(ran) << ran.error().text() << print(result.program);
  auto truth = run_oracle(*bound, views, Precision::kFp64, 1);
  EXPECT_TRUE(truth) << truth.error().text();
  const auto& want = std::get<std::vector<double>>((*truth)[0].values);
  for (std::size_t i = 0; i < want.size(); ++i)
    result.worst = std::max(result.worst, std::fabs(want[i] - memory["y"][i]));
  return result;
}

void expect_moved(const std::string& text) {
  const Pushed result = pushed(text);
  EXPECT_TRUE(result.moved) << print(result.program);
  EXPECT_LT(result.worst, 1e-4) << print(result.program);
}
void expect_kept(const std::string& text) {
  const Pushed result = pushed(text);
  EXPECT_FALSE(result.moved) << print(result.program);
  EXPECT_LT(result.worst, 1e-4) << print(result.program);
}

TEST(Algebra, SumOfALinearLayerIsTakenOfItsWeights) {
  expect_moved(R"(g (float[6, 8] x, float[5, 8] w, float[5] b) => (float[6, 1] y) {
    p = Gemm <transB = 1> (x, w, b)
    two = Constant <value = float {2}> ()
    d = Div (p, two)
    axes = Constant <value = int64[1] {1}> ()
    y = ReduceSum <keepdims = 1> (d, axes)
  })");
}

TEST(Algebra, MeanBehindTermsAndFactorsOfEveryFeature) {
  expect_moved(R"(g (float[6, 8] x, float[8, 7] w, float[7] b, float[7] c) => (float[6] y) {
    p = MatMul (x, w)
    s = Sub (p, b)
    m = Mul (c, s)
    y = ReduceMean <axes = [1], keepdims = 0> (m)
  })");
}

TEST(Algebra, WindowsOfFeatures) {
  expect_moved(R"(g (float[6, 8] x, float[8, 12] w) => (float[6, 1, 3] y) {
    p = MatMul (x, w)
    shape = Constant <value = int64[3] {6, 1, 12}> ()
    r = Reshape (p, shape)
    y = AveragePool <kernel_shape = [4], strides = [4]> (r)
  })");
}

TEST(Algebra, SumOverTheRows) {
  expect_moved(R"(g (float[2, 6, 8] x, float[8, 64] w) => (float[2, 64] y) {
    p = MatMul (x, w)
    axes = Constant <value = int64[1] {1}> ()
    y = ReduceSum <keepdims = 0> (p, axes)
  })");
}

TEST(Algebra, NothingMovesThroughWhatIsNotLinear) {
  expect_kept(R"(g (float[6, 8] x, float[8, 7] w) => (float[6] y) {
    p = MatMul (x, w)
    r = Relu (p)
    axes = Constant <value = int64[1] {1}> ()
    y = ReduceSum <keepdims = 0> (r, axes)
  })");
  expect_kept(R"(g (float[6, 8] x, float[8, 7] w) => (float[6] y) {
    p = MatMul (x, w)
    q = Mul (p, p)
    axes = Constant <value = int64[1] {1}> ()
    y = ReduceSum <keepdims = 0> (q, axes)
  })");
  expect_kept(R"(g (float[6, 8] x, float[8, 7] w) => (float[6] y) {
    p = MatMul (x, w)
    y = ReduceMax <axes = [1], keepdims = 0> (p)
  })");
}

// Summing the operand of a few features costs more than the products it saves.
TEST(Algebra, WhatSavesLittleStays) {
  expect_kept(R"(g (float[2, 6, 8] x, float[8, 5] w) => (float[2, 5] y) {
    p = MatMul (x, w)
    axes = Constant <value = int64[1] {1}> ()
    y = ReduceSum <keepdims = 0> (p, axes)
  })");
}

TEST(Algebra, AProductThatIsNeededAnywayStays) {
  expect_kept(R"(g (float[6, 8] x, float[8, 7] w) => (float[6, 7] y) {
    p = MatMul (x, w)
    axes = Constant <value = int64[1] {1}> ()
    s = ReduceSum <keepdims = 1> (p, axes)
    y = Add (p, s)
  })");
}

}  // namespace
}  // namespace kforge

#include "suite/family.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

Graph graph_of(const std::vector<std::string>& operators) {
  Graph graph;
  for (const std::string& op : operators) graph.nodes.push_back({.op = op});
  return graph;
}

TEST(Family, IsThatOfTheHeaviestOperator) {
  EXPECT_EQ(family_of(graph_of({"Conv", "MatMul", "Relu"})), "convolution");
  EXPECT_EQ(family_of(graph_of({"Gemm", "ReduceMean", "Softmax"})), "matmul");
  EXPECT_EQ(family_of(graph_of({"MatMul", "Softmax", "MatMul"})), "attention");
  EXPECT_EQ(family_of(graph_of({"MatMul", "MatMul", "Softmax"})), "matmul");
  EXPECT_EQ(family_of(graph_of({"LSTM", "Gemm"})), "recurrent");
  EXPECT_EQ(family_of(graph_of({"Softmax"})), "normalization");
  EXPECT_EQ(family_of(graph_of({"MaxPool", "Relu"})), "pooling");
  EXPECT_EQ(family_of(graph_of({"CumSum"})), "scan");
  EXPECT_EQ(family_of(graph_of({"Sub", "Mul", "ReduceMean"})), "reduction");
  EXPECT_EQ(family_of(graph_of({"Transpose", "Reshape"})), "movement");
  EXPECT_EQ(family_of(graph_of({"Reshape", "Relu"})), "activation");
  EXPECT_EQ(family_of(graph_of({})), "other");
}

}  // namespace
}  // namespace kforge

// If, Loop and Scan: bodies that see the values around them, loops that do not end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/one_node.h"

namespace kforge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<const Graph> body(std::vector<std::string> inputs, std::vector<std::string> outputs,
                                  std::vector<Node> nodes) {
  Graph graph;
  graph.name = "body";
  for (auto& name : inputs) graph.inputs.push_back({name, {}});
  for (auto& name : outputs) graph.outputs.push_back({name, {}});
  graph.nodes = std::move(nodes);
  return std::make_shared<const Graph>(std::move(graph));
}

// x -> `node` with the attribute, where x is also visible inside; runs with x = value.
Result<std::vector<OracleTensor>> run_with(Node node, float value) {
  Graph graph;
  graph.inputs = {{"x", {}}};
  for (const auto& name : node.outputs) graph.outputs.push_back({name, {}});
  graph.nodes = {std::move(node)};
  const TensorView views[] = {{"x", DType::kFloat32, {1}, reinterpret_cast<const std::byte*>(&value)}};
  return run_oracle(graph, views, Precision::kFp64, 1);
}

TEST(Control, TheBranchSeesTheValuesAround) {
  Graph graph;
  graph.inputs = {{"c", {}}, {"x", {}}};
  graph.outputs = {{"y", {}}};
  Node choose = make_node("If", {"c"}, {"y"});
  choose.attributes["then_branch"] = body({}, {"t"}, {make_node("Neg", {"x"}, {"t"})});
  choose.attributes["else_branch"] = body({}, {"x"}, {});
  graph.nodes = {make_node("Abs", {"x"}, {"unused"}), choose};
  const float x = 3;
  for (const std::uint8_t condition : {1, 0}) {
    const TensorView views[] = {{"c", DType::kBool, {}, reinterpret_cast<const std::byte*>(&condition)},
                                {"x", DType::kFloat32, {1}, reinterpret_cast<const std::byte*>(&x)}};
    const auto results = run_oracle(graph, views, Precision::kFp64, 1);
    ASSERT_TRUE(results) << results.error().text();
    EXPECT_THAT(values_of((*results)[0]), ElementsAre(condition ? -3 : 3));
  }
}

TEST(Control, ALoopCarriesStateAndStacksSlices) {
  Graph graph;
  graph.inputs = {{"n", {}}, {"x", {}}};
  graph.outputs = {{"last", {}}, {"all", {}}};
  Node loop = make_node("Loop", {"n", "", "x"}, {"last", "all"});
  loop.attributes["body"] = body({"i", "c", "s"}, {"c", "s2", "s2"}, {make_node("Add", {"s", "x"}, {"s2"})});
  graph.nodes = {loop};
  const std::int64_t n = 3;
  const float x = 2;
  const TensorView views[] = {{"n", DType::kInt64, {}, reinterpret_cast<const std::byte*>(&n)},
                              {"x", DType::kFloat32, {1}, reinterpret_cast<const std::byte*>(&x)}};
  const auto results = run_oracle(graph, views, Precision::kFp64, 1);
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_THAT(values_of((*results)[0]), ElementsAre(8));
  EXPECT_THAT(values_of((*results)[1]), ElementsAre(4, 6, 8));
}

TEST(Control, ErrorsInsideNameTheInnerNode) {
  Node choose = make_node("Loop", {"", "", "x"}, {"y"});
  choose.attributes["body"] = body({"i", "c", "s"}, {"c", "t"}, {make_node("Frobnicate", {"s"}, {"t"})});
  const auto results = run_with(choose, 1);
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().message, "operator Frobnicate is not supported by the oracle");
}

TEST(Control, BodiesThatDoNotFitAreRefused) {
  Node loop = make_node("Loop", {"", "", "x"}, {"y"});
  EXPECT_THAT(run_with(loop, 1).error().message, HasSubstr("attribute body is missing"));
  loop.attributes["body"] = body({"i"}, {"i"}, {});
  EXPECT_THAT(run_with(loop, 1).error().message, HasSubstr("body of 1 inputs"));
  Node scan = make_node("Scan", {"x"}, {"y"});
  scan.attributes["body"] = body({"s"}, {"s"}, {});
  EXPECT_THAT(run_with(scan, 1).error().message, HasSubstr("sequences"));
}

TEST(Control, AScanWalksASequence) {
  Node scan = make_node("Scan", {"x"}, {"y"});
  scan.attributes["body"] = body({"s"}, {"t"}, {make_node("Neg", {"s"}, {"t"})});
  scan.attributes["num_scan_inputs"] = std::int64_t{1};
  const auto results = run_with(scan, 4);
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_THAT(values_of((*results)[0]), ElementsAre(-4));
}

}  // namespace
}  // namespace kforge

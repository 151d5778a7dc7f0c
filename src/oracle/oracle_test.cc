// The interpreter itself: scopes, lifetimes, names in errors, limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "graph/opaque.h"
#include "oracle/one_node.h"
#include "oracle/opaque.h"

namespace kforge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TensorView view_of(std::string name, const std::vector<float>& values) {
  return {std::move(name),
          DType::kFloat32,
          {static_cast<std::int64_t>(values.size())},
          reinterpret_cast<const std::byte*>(values.data())};
}

TEST(Oracle, RunsNodesInOrderAndGivesOutputsInGraphOrder) {
  Graph graph;
  graph.inputs = {{"x", {}}};
  graph.outputs = {{"c", {}}, {"a", {}}};
  graph.nodes = {make_node("Neg", {"x"}, {"a"}), make_node("Exp", {"a"}, {"b"}),
                 make_node("Add", {"a", "b"}, {"c"})};
  const std::vector<float> x = {0, 1};
  const TensorView views[] = {view_of("x", x)};
  const auto results = run_oracle(graph, views, Precision::kFp64, 2);
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_THAT(values_of((*results)[0]), ElementsAre(1.0, -1 + std::exp(-1.0)));
  EXPECT_THAT(values_of((*results)[1]), ElementsAre(-0.0, -1.0));
}

TEST(Oracle, AnInputMayReplaceAnInitializer) {
  Graph graph;
  const float one = 1;
  ConstantTensor constant{DType::kFloat32, {1}, std::vector<std::byte>(4), {}};
  std::memcpy(constant.data.data(), &one, 4);
  graph.initializers = {{"w", constant}};
  graph.outputs = {{"y", {}}};
  graph.nodes = {make_node("Neg", {"w"}, {"y"})};
  auto results = run_oracle(graph, {}, Precision::kFp64, 1);
  ASSERT_TRUE(results);
  EXPECT_THAT(values_of((*results)[0]), ElementsAre(-1.0));
  const std::vector<float> other = {5};
  const TensorView views[] = {view_of("w", other)};
  results = run_oracle(graph, views, Precision::kFp64, 1);
  ASSERT_TRUE(results);
  EXPECT_THAT(values_of((*results)[0]), ElementsAre(-5.0));
}

TEST(Oracle, AMissingInputIsNamed) {
  Graph graph;
  graph.inputs = {{"x", {}}};
  const auto results = run_oracle(graph, {}, Precision::kFp64, 1);
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().message, HasSubstr("input x"));
}

TEST(Oracle, AnUnknownOperatorIsNamed) {
  EXPECT_EQ(refusal_of({"Frobnicate", {floats({1}, {1})}}),
            "operator Frobnicate is not supported by the oracle");
  Graph graph;
  graph.nodes = {make_node("Frobnicate", {}, {}), make_node("Add", {}, {})};
  std::vector<std::string> missing;
  EXPECT_FALSE(oracle_supports(graph, &missing));
  EXPECT_THAT(missing, ElementsAre("Frobnicate"));
}

TEST(Oracle, AnErrorNamesTheNodeAndTheShapes) {
  const std::string message = refusal_of({"Add", {floats({2}, {1, 2}), floats({3}, {1, 2, 3})}});
  EXPECT_EQ(message, "node (Add): shapes [2] and [3] do not broadcast");
}

TEST(Oracle, AbsurdSizesAreRefusedBeforeTheyAreMade) {
  EXPECT_THAT(refusal_of({"Expand", {floats({1}, {1}), int64s({3}, {1 << 20, 1 << 20, 1 << 20})}}),
              HasSubstr("too large"));
  EXPECT_THAT(refusal_of({"ConstantOfShape", {int64s({2}, {1e6, 1e6})}}), HasSubstr("too large"));
  EXPECT_THAT(refusal_of({"ConstantOfShape", {int64s({2}, {3, -1})}}), HasSubstr("negative"));
  EXPECT_THAT(refusal_of({"Tile", {floats({2}, {1, 2}), int64s({1}, {1e18})}}), HasSubstr("too large"));
}

TEST(Oracle, EndlessWorkIsRefusedBeforeItIsBegun) {
  const TestTensor image = floats({1, 1, 1, 1}, {1});
  const std::int64_t half = 1 << 11;
  const std::map<std::string, Attribute> pads = {{"pads", std::vector<std::int64_t>{half, half, half, half}},
                                                 {"kernel_shape", std::vector<std::int64_t>{half, half}}};
  EXPECT_THAT(refusal_of({"AveragePool", {image}, pads}), HasSubstr("operations"));
}

TEST(Oracle, TheYardstickComputesInFloatAndTheTruthInDouble) {
  const OneNode node{"Add", {floats({1}, {1e8}), floats({1}, {1})}};
  EXPECT_THAT(run_values(node), ElementsAre(100000001.0));
  EXPECT_THAT(run_values(node, 0, Precision::kFp32), ElementsAre(100000000.0));
}

// What rounding a result costs is allowed where it is compared; here it would hide what was wrong before it.
TEST(Oracle, NarrowOutputsAreNotRounded) {
  const OneNode node{"Add", {{DType::kBFloat16, {1}, {1}}, {DType::kBFloat16, {1}, {1.0 / 512}}}};
  EXPECT_THAT(run_values(node), ElementsAre(1 + 1.0 / 512));
  EXPECT_THAT(run_values(node, 0, Precision::kFp32), ElementsAre(1 + 1.0 / 512));
}

// Gives back what it was asked: doubled, in the precision of the call.
class Doubling : public OpaqueModules {
 public:
  Result<std::vector<OpaqueTensor>> run(const OpaqueCall& call) override {
    EXPECT_EQ(call.numbers.at("rows"), 2);
    EXPECT_EQ(call.tensors[0].name, "x");
    EXPECT_FALSE(call.tensors[0].state);
    if (fails) return fail("reference.py:7: not today");
    OpaqueTensor y{"y", false, DType::kFloat64, {2}, std::vector<std::byte>(2 * sizeof(double))};
    double values[2];
    for (int i = 0; i < 2; ++i) {
      double wide = 0;
      float narrow = 0;
      std::memcpy(call.wide ? static_cast<void*>(&wide) : &narrow,
                  call.tensors[0].data.data() +
                      static_cast<std::size_t>(i) * (call.wide ? sizeof wide : sizeof narrow),
                  call.wide ? sizeof wide : sizeof narrow);
      values[i] = 2 * (call.wide ? wide : narrow);
    }
    std::memcpy(y.data.data(), values, sizeof values);
    return std::vector{y};
  }
  bool fails = false;
};

TEST(Oracle, AnOpaqueModuleIsAskedForItsResult) {
  auto graph = parse_graph_text(R"(
    opaque (float[rows] x) => (float[rows] y) {
      numbers = kforge.Dims <of = ["rows"]> ()
      y = kforge.Opaque <source = "class Model", numbers = ["rows"], arguments = ["input:x"], types = ["float32"]> (numbers, x)
    })",
                                "test");
  ASSERT_TRUE(graph) << graph.error().text();
  auto bound = bind_dims(*graph, {{"rows", 2}});
  ASSERT_TRUE(bound) << bound.error().text();
  EXPECT_TRUE(is_opaque(*bound));
  const std::vector<float> x = {1.5, -3};
  const TensorView views[] = {view_of("x", x)};
  EXPECT_THAT(run_oracle(*bound, views, Precision::kFp64, 1).error().message,
              HasSubstr("nothing here runs PyTorch"));
  auto modules = std::make_shared<Doubling>();
  set_opaque_modules(modules);
  for (Precision precision : {Precision::kFp64, Precision::kFp32}) {
    auto results = run_oracle(*bound, views, precision, 1);
    ASSERT_TRUE(results) << results.error().text();
    EXPECT_EQ((*results)[0].dtype, DType::kFloat32);
    EXPECT_THAT(values_of((*results)[0]), ElementsAre(3.0, -6.0));
  }
  modules->fails = true;
  EXPECT_EQ(run_oracle(*bound, views, Precision::kFp64, 1).error().message, "reference.py:7: not today");
  set_opaque_modules(nullptr);
}

}  // namespace
}  // namespace kforge

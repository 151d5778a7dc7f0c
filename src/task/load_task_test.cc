#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "task/scratch_task.h"

namespace kforge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kShapes =
    "description = \"d\"\n[shapes]\nbench = { B = 8 }\nsmall = { B = 2 }\nodd = { B = 3 }\n";

std::vector<std::string> names(const Task& task) {
  std::vector<std::string> out;
  for (const Argument& argument : task.arguments) out.push_back(argument.name);
  return out;
}

TEST(LoadTask, OrderIsInputsThenInitializersThenOutputs) {
  ScratchTask scratch(
      std::string(kShapes) + "[tensors.w]\nrole = \"param\"\n",
      "g (float[B, 4] x, float[4, 4] w, float[B, 4] z) => (float[B, 4] y, float[B, 4] v)\n"
      "<float[4] bias = {1, 2, 3, 4}, float scale = {0.5}, int64[1] axes = {1}>\n"
      "{ h = MatMul(x, w) s = Mul(h, scale) y = Add(s, bias) u = Unsqueeze(z, axes) v = Squeeze(u, axes) }");
  EXPECT_THAT(names(scratch.task()), ElementsAre("x", "w", "z", "bias", "y", "v"));
  EXPECT_EQ(scratch.task().arguments[1].role, Role::kParam);
  EXPECT_EQ(scratch.task().arguments[3].role, Role::kParam);
  EXPECT_EQ(scratch.task().arguments[3].distribution.kind, Distribution::Kind::kFixed);
}

TEST(LoadTask, InoutTakesTheOutputsPlace) {
  ScratchTask scratch(std::string(kShapes) + "[tensors.x]\nrole = \"inout\"\noutput = \"y\"\n",
                      "g (float[B] x) => (float[B] y, float[B] z) { y = Relu(x) z = Neg(x) }");
  EXPECT_THAT(names(scratch.task()), ElementsAre("x", "z"));
  EXPECT_EQ(scratch.task().arguments[0].output, "y");
}

struct LoadMistake {
  const char* toml;
  const char* graph;
  const char* says;
};
class LoadMistakes : public testing::TestWithParam<LoadMistake> {};
TEST_P(LoadMistakes, AreNamed) {
  ScratchTask scratch(GetParam().toml, GetParam().graph);
  EXPECT_THAT(scratch.error(), HasSubstr(GetParam().says));
}

#define SHAPES_OF_B "description = \"d\"\n[shapes]\nbench = { B = 8 }\nsmall = { B = 2 }\nodd = { B = 3 }\n"
#define RELU "g (float[B] x) => (float[B] y) { y = Relu(x) }"
INSTANTIATE_TEST_SUITE_P(
    All, LoadMistakes,
    testing::Values(
        LoadMistake{SHAPES_OF_B "[tensors.xx]\nrole = \"param\"\n", RELU,
                    "[tensors.xx]: the graph has no such input"},
        LoadMistake{SHAPES_OF_B "[tensors.x]\nrole = \"inout\"\noutput = \"z\"\n", RELU,
                    "the graph has no output 'z'"},
        LoadMistake{SHAPES_OF_B "[tensors.x]\nvalues = \"fixed\"\n", RELU,
                    "only initializers can be \"fixed\""},
        LoadMistake{"description = \"d\"\n[shapes]\nbench = { B = 8 }\nsmall = { B = 2 }\n", RELU,
                    "shape set 'odd' is missing"},
        LoadMistake{
            "description = \"d\"\n[shapes]\nbench = { B = 8, C = 1 }\nsmall = { B = 2 }\nodd = { B = 1 }\n",
            RELU, "shape set 'bench': the graph has no dimension 'C'"},
        LoadMistake{"description = \"d\"\n[shapes]\nbench = { B = 8 }\nsmall = { }\nodd = { B = 1 }\n", RELU,
                    "shape set 'small' gives no number for the dimension 'B'"},
        LoadMistake{SHAPES_OF_B "[tensors.x]\nvalues = \"normal\"\n",
                    "g (int64[B] x) => (int64[B] y) { y = Abs(x) }", "do not fit"},
        LoadMistake{SHAPES_OF_B, "g (string[B] x) => (string[B] y) { y = Identity(x) }", "string tensor"},
        LoadMistake{SHAPES_OF_B, "g (float[B] x => (float[B] y) { y = Relu(x) }", "ParseError"},
        LoadMistake{SHAPES_OF_B "[tensors.x]\nrole = \"inout\"\noutput = \"y\"\n",
                    "g (float[B] x) => (float[B, 1] y) <int64[1] a = {1}> { y = Unsqueeze(x, a) }",
                    "its new value"}));

TEST(LoadTask, MisspeltNamesGetTheNearest) {
  auto task = load_task("core/sofmax");
  ASSERT_FALSE(task);
  EXPECT_THAT(task.error().message, HasSubstr("core/softmax"));
  EXPECT_FALSE(load_task(""));
  EXPECT_FALSE(load_task("/nonexistent/model.onnx"));
}

TEST(LoadTask, ByBareName) {
  auto task = load_task("softmax");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->suite, "core");
  EXPECT_EQ(task->name, "softmax");
}

TEST(LoadTask, BareModelGetsShapesAndFixedParams) {
  auto folder = TempDir::create();
  auto graph = parse_graph_text(
      "g (float[batch, 4] x) => (float[batch, 4] y) <float[4] w = {1, 2, 3, 4}> { y = Mul(x, w) }", "t");
  auto path = folder->path() / "model.onnx";
  ASSERT_TRUE(write_file_atomic(path, *to_onnx_model(*graph)));
  auto task = load_task(path.string());
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->name, "model");
  EXPECT_THAT(names(*task), ElementsAre("x", "w", "y"));
  EXPECT_EQ(task->arguments[1].distribution.kind, Distribution::Kind::kFixed);
  EXPECT_EQ(task->shapes.at("bench")[0].dims.at("batch"), 8);
  EXPECT_TRUE(task->shapes.contains("small") && task->shapes.contains("odd"));
}

}  // namespace
}  // namespace kforge

// Files that are wrong by accident or on purpose: an Error that says why, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "graph/graph.h"

namespace kforge {
namespace {

using testing::HasSubstr;

struct HostileCase {
  const char* name;
  std::string text;
  const char* says;
};

class HostileText : public testing::TestWithParam<HostileCase> {};
TEST_P(HostileText, IsRefused) {
  auto graph = parse_graph_text(GetParam().text, "t");
  if (graph) graph = bind_dims(*graph, {});
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr(GetParam().says));
}

std::string repeated(std::string_view piece, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += piece;
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    All, HostileText,
    testing::Values(
        HostileCase{"Empty", "", "Error"}, HostileCase{"Nonsense", "hello world", "ParseError"},
        HostileCase{"ZeroByte", std::string("g\0h", 3), "zero byte"},
        HostileCase{"Unfinished", "g (float[2] x) => (float[2] y) { y = Relu(x)", "ParseError"},
        HostileCase{"TextBehind", "g (float[2] x) => (float[2] y) { y = Relu(x) } } more", "ParseError"},
        HostileCase{"UnendedString", "g (float[2] x) => (float[2] y) { y = Pad <mode = \"abc> (x) }",
                    "ParseError"},
        HostileCase{"NumberTooLarge", "g (float[99999999999999999999] x) => (float[2] y) { y = Relu(x) }",
                    "out of range"},
        HostileCase{"DeepNesting",
                    "g (float[2] x) => (float[2] y) { y = If <" +
                        repeated("then_branch = g () => () { y = If <", 1000),
                    "nested deeper"},
        HostileCase{"Cycle", "g (float[2] x) => (float[2] y) { a = Add(x, b) b = Relu(a) y = Relu(b) }",
                    "cycle"},
        HostileCase{"MissingInput", "g (float[2] x) => (float[2] y) { y = Add(x, z) }",
                    "'z', which nothing defines"},
        HostileCase{"MissingOutput", "g (float[2] x) => (float[2] y) { z = Relu(x) }",
                    "nothing computes the graph output 'y'"},
        HostileCase{"DefinedTwice", "g (float[2] x) => (float[2] y) { y = Relu(x) y = Neg(x) }",
                    "'y' is defined twice"},
        HostileCase{"InputTwice", "g (float[2] x, float[2] x) => (float[2] y) { y = Relu(x) }",
                    "'x' is defined twice"},
        HostileCase{"UnknownOperator", "g (float[2] x) => (float[2] y) { y = Frobnicate(x) }", "Frobnicate"},
        HostileCase{"WrongArity", "g (float[2] x) => (float[2] y) { y = Add(x) }", "Add"},
        HostileCase{"WrongAttribute", "g (float[2] x) => (float[2] y) { y = Relu <beta = 1> (x) }", "beta"},
        HostileCase{"WrongAttributeKind",
                    "g (float[2] x) => (float[2] y) { y = Softmax <axis = \"one\"> (x) }", "axis"},
        HostileCase{"WrongType", "g (float[2] x, int64[2] z) => (float[2] y) { y = Add(x, z) }", "int64"},
        HostileCase{"ShapesDoNotFit",
                    "g (float[2, 3] x, float[4, 5] z) => (float[2, 5] y) { y = MatMul(x, z) }", "MatMul"},
        HostileCase{"WrongDeclaredShape", "g (float[2, 3] x) => (float[3, 2] y) { y = Relu(x) }",
                    "declared as float32[3,2] but computed as float32[2,3]"},
        HostileCase{"WrongDeclaredType", "g (float[2] x) => (int64[2] y) { y = Relu(x) }",
                    "declared as int64"},
        HostileCase{"Complex", "g (complex64[2] x) => (complex64[2] y) { y = Identity(x) }",
                    "complex64 is not supported"},
        HostileCase{"FewerValues", "g (float[2] x) => (float[2] y) <float[2] w = {1.0}> { y = Add(x, w) }",
                    "does not have the 2 elements"},
        HostileCase{"NegativeWidth", "g (float[2] x) => (float[2] y) <float[-2] w = {1.0}> { y = Add(x, w) }",
                    "negative"},
        HostileCase{
            "HugeShape",
            "g (float[4294967296, 4294967296] x) => (float[4294967296, 4294967296] y) { y = Relu(x) }",
            "2^40 elements"},
        HostileCase{"NoSuchSymbol", "g (float[B] x) => (float[B] y) { y = Relu(x) }",
                    "'B' of 'x' has no value"},
        HostileCase{"DependsOnValues", "g (float[8] x) => (int64[1, N] y) { y = NonZero(x) }",
                    "depends on values"},
        HostileCase{"KforgeInteger", "g (int64[2] x) => (int64[2] y) { y = kforge.Gelu(x) }",
                    "does not take"},
        HostileCase{"KforgeScale",
                    "g (float[2, 4] x, float[3] s) => (float[2, 4] y) { y = kforge.RMSNormalization(x, s) }",
                    "does not fit"},
        HostileCase{
            "KforgeAxis",
            "g (float[2, 4] x, float[4] s) => (float[2, 4] y) { y = kforge.RMSNormalization <axis = 2> (x, "
            "s) }",
            "axis 2"},
        HostileCase{"KforgeArity", "g (float[2] x) => (float[2] y) { y = kforge.Gelu(x, x) }",
                    "takes 1 inputs"},
        HostileCase{"KforgeAttribute",
                    "g (float[2] x) => (float[2] y) { y = kforge.Gelu <approximate = \"fast\"> (x) }",
                    "\"fast\""},
        HostileCase{"KforgeGroups",
                    "g (float[2, 4, 4] x, float[4] s) => (float[2, 4, 4] y) { y = kforge.GroupNormalization "
                    "<num_groups = 3> (x, s, s) }",
                    "groups"},
        HostileCase{
            "KforgeNested",
            "g (float[2] x, bool c) => (float[2] y) { y = If (c) <then_branch = t () => (float[2] a) { n = "
            "kforge.Dims <of = [\"2\"]> () a = Reshape(x, n) }, "
            "else_branch = e () => (float[2] b) { b = Relu(x) }> }",
            "kforge.Dims"}),
    [](const auto& info) { return info.param.name; });

std::string good_model() {
  auto graph = parse_graph_text(
      "g (float[B, 4] x, bool c) => (float[B, 4] y) <float[4] w = {1, 2, 3, 4}, int64[2] t = {-1, 4}> {"
      "  h = Mul(x, w) r = Reshape(h, t) k = kforge.Gelu(r)"
      "  y = If (c) <then_branch = a () => (float[B, 4] p) { p = Relu(k) }, else_branch = b () => (float[B, "
      "4] q) { q = Neg(k) }> }",
      "t");
  EXPECT_TRUE(graph) << graph.error().message;
  return *to_onnx_model(*graph);
}

class HostileFile : public testing::Test {
 protected:
  Result<Graph> load(std::string_view content) {
    std::ofstream(path(), std::ios::binary) << content;
    return load_graph(path());
  }
  std::string path() const { return (folder_.path() / "m.onnx").string(); }
  TempDir folder_ = *TempDir::create();
};

TEST_F(HostileFile, RoundTrip) {
  auto graph = load(good_model());
  ASSERT_TRUE(graph) << graph.error().message;
  // Functions were expanded: no kforge operator is left, but the body of Gelu.
  EXPECT_THAT(print_graph(*graph), HasSubstr("Erf"));
}

TEST_F(HostileFile, CutOffAnywhere) {
  std::string model = good_model();
  for (std::size_t size = 0; size < model.size(); size += 3) {
    auto graph = load(model.substr(0, size));
    if (graph) continue;  // a cut between two fields can leave a whole, smaller model
    EXPECT_FALSE(graph.error().message.empty());
  }
}

TEST_F(HostileFile, FlippedBytes) {
  std::string model = good_model();
  std::uint32_t state = 1;
  for (int round = 0; round < 3000; ++round) {
    std::string broken = model;
    for (int flip = 0; flip < 1 + round % 4; ++flip) {
      state = state * 1664525 + 1013904223;
      broken[(state >> 8) % broken.size()] ^= static_cast<char>(1 << (state % 8));
    }
    auto graph = load(broken);
    if (graph) (void)bind_dims(*graph, {{"B", 3}});
  }
}

TEST_F(HostileFile, NotThereAndNotAFile) {
  EXPECT_FALSE(load_graph("/nonexistent.onnx"));
  EXPECT_FALSE(load_graph(folder_.path().string()));
  EXPECT_FALSE(load(""));
}

}  // namespace
}  // namespace kforge

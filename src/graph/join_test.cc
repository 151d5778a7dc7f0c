// What exporters took apart becomes one operator again; what only looks like it stays as it is.
#include "graph/join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <fmt/ranges.h>

#include "graph/formula.h"

namespace kforge {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

Graph joined(const Result<Graph>& graph) {
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  if (!graph) return {};
  auto bound = bind_dims(*graph, {});
  EXPECT_TRUE(bound) << (bound ? "" : bound.error().message);
  return bound ? join_operators(*bound) : Graph();
}
Graph joined_text(const std::string& text) { return joined(parse_graph_text(text, "t")); }

// Operators in order, without those that only bring parameters into shape.
std::string operators(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    if (node.name.starts_with("joined")) continue;
    std::string name = node.op;
    if (node.string_attr("approximate", "none") == "tanh") name += "(tanh)";
    names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

// What the operators of a file become. Files of one name, by both exporters, become the same.
const std::map<std::string, std::string> kExported = {
    {"gelu", "Gelu"},
    {"gelu_tanh", "Gelu(tanh)"},
    {"gelu_by_hand", "Gelu(tanh)"},
    {"mish", "Mish"},
    {"mish_by_hand", "Mish"},
    {"silu", "Swish"},
    {"silu_by_hand", "Swish"},
    {"hardswish", "HardSwish"},
    {"hardswish_by_hand", "HardSwish"},
    {"hardswish_of_relu6", "HardSwish"},
    {"softplus", "Softplus"},
    {"softplus_by_hand", "Softplus"},
    {"groupnorm", "GroupNormalization"},
    {"groupnorm_rows", "GroupNormalization"},
    {"groupnorm_volume", "GroupNormalization"},
    {"groupnorm_plain", "GroupNormalization"},
    {"instancenorm", "InstanceNormalization"},
    {"instancenorm_plain", "InstanceNormalization"},
    {"layernorm", "LayerNormalization"},
    {"layernorm_image", "LayerNormalization"},
    {"layernorm_plain", "LayerNormalization"},
    {"rmsnorm", "RMSNormalization"},
    {"rmsnorm_by_hand", "RMSNormalization"},
    // Over channels in the middle: no library has an operator for it.
    {"rmsnorm_of_channels", "Pow ReduceMean Add Sqrt Div"},
};

TEST(Join, FindsWhatBothExportersTookApart) {
  int files = 0;
  for (const auto& folder : fs::directory_iterator(KFORGE_SOURCE_DIR "/tests/data/exported")) {
    if (!folder.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(folder)) {
      std::string name = file.path().stem().string();
      if (name.starts_with("attention")) continue;
      SCOPED_TRACE(file.path().string());
      ASSERT_TRUE(kExported.contains(name));
      EXPECT_EQ(operators(joined(load_graph(file.path().string()))), kExported.at(name));
      ++files;
    }
  }
  EXPECT_GE(files, 50);
}

struct JoinCase {
  const char* name;
  const char* body;
  const char* operators;
};
void PrintTo(const JoinCase& one, std::ostream* out) { *out << one.name; }
class JoinText : public testing::TestWithParam<JoinCase> {};
TEST_P(JoinText, Becomes) {
  EXPECT_EQ(operators(joined_text(fmt::format("g (float[2, 6, 4] x, float[6, 1] a, float[6, 1] b, float[4] "
                                              "w, float[4] v) => (float[2, 6, 4] y) {{ {} }}",
                                              GetParam().body))),
            GetParam().operators);
}

constexpr const char* kGelu = R"(
  r = Constant <value = float {1.41421356}> () o = Constant <value = float {1.0}> () h = Constant <value = float {0.5}> ()
  d = Div(x, r) e = Erf(d) s = Add(e, o) p = Mul(x, s) y = Mul(p, h))";

INSTANTIATE_TEST_SUITE_P(
    Found, JoinText,
    testing::Values(
        JoinCase{"Gelu", kGelu, "Gelu"},
        JoinCase{"GeluOfAProduct",
                 R"(r = Constant <value = float {0.70710678}> () o = Constant <value = float {1.0}> ()
                h = Constant <value = float {0.5}> () z = Mul(x, w) half = Mul(z, h) d = Mul(r, z) e = Erf(d)
                s = Add(o, e) y = Mul(half, s))",
                 "Mul Gelu"},
        JoinCase{"TwoInARow", R"(s = Sigmoid(x) z = Mul(x, s) f = Softplus(z) t = Tanh(f) y = Mul(z, t))",
                 "Swish Mish"},
        JoinCase{"ResidualBehindLayerNorm",
                 R"(two = Constant <value = float {2.0}> () e = Constant <value = float {0.00001}> ()
                m = ReduceMean <axes = [2]> (x) c = Sub(x, m) q = Pow(c, two) u = ReduceMean <axes = [-1]> (q)
                g = Add(u, e) r = Sqrt(g) n = Div(c, r) k = Mul(n, w) l = Add(k, v) y = Add(l, x))",
                 "LayerNormalization Add"},
        JoinCase{"LayerNormOfAResidual",
                 R"(e = Constant <value = float {0.00001}> () z = Add(x, a) m = ReduceMean <axes = [2]> (z)
                c = Sub(z, m) q = Mul(c, c) u = ReduceMean <axes = [2]> (q) g = Add(e, u) r = Sqrt(g)
                i = Reciprocal(r) n = Mul(c, i) k = Mul(w, n) y = Add(v, k))",
                 "Add LayerNormalization"},
        JoinCase{"InstanceNormInPieces",
                 R"(e = Constant <value = float {0.00001}> () m = ReduceMean <axes = [2]> (x) c = Sub(x, m)
                q = Mul(c, c) u = ReduceMean <axes = [2]> (q) g = Add(e, u) r = Sqrt(g) n = Div(c, r)
                k = Mul(a, n) y = Add(k, b))",
                 "InstanceNormalization"},
        JoinCase{
            "RmsNormWithoutScale",
            R"(e = Constant <value = float {0.00001}> () h = Constant <value = float {-0.5}> () q = Mul(x, x)
                u = ReduceMean <axes = [1, 2]> (q) g = Add(e, u) r = Pow(g, h) y = Mul(r, x))",
            "RMSNormalization"},
        JoinCase{"SwishByDivision",
                 R"(o = Constant <value = float {1.0}> () n = Neg(x) e = Exp(n) d = Add(e, o) y = Div(x, d))",
                 "Swish"}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    NearMiss, JoinText,
    testing::Values(
        JoinCase{"GeluWithAnotherConstant",
                 R"(r = Constant <value = float {1.4143}> () o = Constant <value = float {1.0}> ()
                h = Constant <value = float {0.5}> () d = Div(x, r) e = Erf(d) s = Add(e, o) p = Mul(x, s)
                y = Mul(p, h))",
                 "Div Erf Add Mul Mul"},
        JoinCase{"GeluOfTwoTensors",
                 R"(r = Constant <value = float {1.41421356}> () o = Constant <value = float {1.0}> ()
                h = Constant <value = float {0.5}> () z = Abs(x) d = Div(z, r) e = Erf(d) s = Add(e, o)
                p = Mul(x, s) y = Mul(p, h))",
                 "Abs Div Erf Add Mul Mul"},
        JoinCase{"SigmoidThatIsAlsoRead", R"(s = Sigmoid(x) z = Mul(x, s) y = Add(z, s))", "Sigmoid Mul Add"},
        JoinCase{"SwishOfAnother", R"(z = Abs(x) s = Sigmoid(z) y = Mul(x, s))", "Abs Sigmoid Mul"},
        JoinCase{"SoftplusWithTwo",
                 R"(o = Constant <value = float {2.0}> () e = Exp(x) s = Add(e, o) y = Log(s))",
                 "Exp Add Log"},
        JoinCase{"ClipToAnotherWidth",
                 R"(t = Constant <value = float {3.0}> () z = Constant <value = float {0.0}> ()
                f = Constant <value = float {5.0}> () s = Constant <value = float {6.0}> () c = Add(x, t)
                k = Clip(c, z, f) p = Mul(x, k) y = Div(p, s))",
                 "Add Clip Mul Div"},
        // Still the root of a mean square, but not of what was centred.
        JoinCase{"MeansOverDifferentAxes",
                 R"(e = Constant <value = float {0.00001}> () m = ReduceMean <axes = [1]> (x) c = Sub(x, m)
                q = Mul(c, c) u = ReduceMean <axes = [2]> (q) g = Add(e, u) r = Sqrt(g) y = Div(c, r))",
                 "ReduceMean Sub RMSNormalization"},
        JoinCase{"MeanOverChannels",
                 R"(e = Constant <value = float {0.00001}> () q = Mul(x, x) u = ReduceMean <axes = [1]> (q)
                g = Add(e, u) r = Sqrt(g) y = Div(x, r))",
                 "Mul ReduceMean Add Sqrt Div"},
        JoinCase{"SumInsteadOfMean",
                 R"(e = Constant <value = float {0.00001}> () i = Constant <value_ints = [2]> () q = Mul(x, x)
                u = ReduceSum(q, i) g = Add(e, u) r = Sqrt(g) y = Div(x, r))",
                 "Mul ReduceSum Add Sqrt Div"},
        JoinCase{"DeviationThatIsAlsoRead",
                 R"(e = Constant <value = float {0.00001}> () q = Mul(x, x) u = ReduceMean <axes = [2]> (q)
                g = Add(e, u) r = Sqrt(g) n = Div(x, r) y = Add(n, r))",
                 "Mul ReduceMean Add Sqrt Div Add"},
        JoinCase{"GroupsAcrossTheBatch",
                 R"(to = Constant <value_ints = [4, 3, -1]> () back = Constant <value_ints = [2, 6, 4]> ()
                s = Constant <value_floats = [1.0, 1.0, 1.0]> () t = Constant <value_floats = [0.0, 0.0, 0.0]> ()
                r = Reshape(x, to) n = InstanceNormalization(r, s, t) y = Reshape(n, back))",
                 "Reshape InstanceNormalization Reshape"},
        JoinCase{"GroupsThatCutChannels",
                 R"(to = Constant <value_ints = [2, 4, -1]> () back = Constant <value_ints = [2, 6, 4]> ()
                s = Constant <value_floats = [1.0, 1.0, 1.0, 1.0]> ()
                t = Constant <value_floats = [0.0, 0.0, 0.0, 0.0]> () r = Reshape(x, to)
                n = InstanceNormalization(r, s, t) y = Reshape(n, back))",
                 "Reshape InstanceNormalization Reshape"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Join, KeepsArgumentsAndTheResultsName) {
  Graph graph =
      joined_text(fmt::format("g (float[2, 6, 4] x, float[3] unused) => (float[2, 6, 4] y) {{ {} }}", kGelu));
  EXPECT_EQ(graph.inputs.size(), 2u);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_THAT(graph.nodes[0].outputs, ElementsAre("y"));
  EXPECT_TRUE(graph.initializers.empty());  // the numbers of the formula are gone with it
}

TEST(Join, ValueOfANestedGraphIsLeftAlone) {
  Graph graph = joined_text(R"(g (float[2, 3] x, bool c) => (float[2, 3] y, float[2, 3] z) {
    s = Sigmoid(x) y = Mul(x, s)
    z = If (c) <then_branch = t () => (float[2, 3] p) { p = Neg(s) },
                else_branch = e () => (float[2, 3] q) { q = Abs(x) }> })");
  EXPECT_EQ(operators(graph), "Sigmoid Mul If");
}

TEST(Join, ConstantsOfHalfPrecisionAreRounded) {
  auto graph = parse_graph_text(R"(g (float16[2, 3] x, float16 r, float16 o, float16 h) => (float16[2, 3] y) {
    d = Div(x, r) e = Erf(d) s = Add(e, o) p = Mul(x, s) y = Mul(p, h) })",
                                "t");
  ASSERT_TRUE(graph);
  graph->inputs.resize(1);
  // 1.4140625, the float16 nearest to the root of two; one; a half.
  for (auto [name, bits] : {std::pair{"r", 0x3da8}, std::pair{"o", 0x3c00}, std::pair{"h", 0x3800}})
    graph->initializers.push_back(
        {name, {DType::kFloat16, {}, {std::byte(bits & 0xff), std::byte(bits >> 8)}, {}}, true});
  EXPECT_EQ(operators(joined(graph)), "Gelu");
}

TEST(Formula, OneFormForManyWaysToWrite) {
  auto product = parse_formula("x / 2 * (1 + Erf(x)) * 4");
  EXPECT_EQ(product->kind, Formula::Kind::kProduct);
  EXPECT_EQ(product->number, 2);
  EXPECT_EQ(product->factors.size(), 2u);
  auto root = parse_formula("x / Sqrt(y + @epsilon)");
  ASSERT_EQ(root->factors.size(), 2u);
  EXPECT_EQ(root->factors[1].exponent, -0.5);
  EXPECT_EQ(root->factors[1].base->name, "epsilon");
  EXPECT_EQ(parse_formula("x * x * x")->factors[0].exponent, 3);
}

}  // namespace
}  // namespace kforge

#include "oracle/other_rounding.h"

#include <gtest/gtest.h>

#include "graph/graph.h"
#include "oracle/expected.h"
#include "task/scratch_task.h"

namespace kforge {
namespace {

#define SHAPES(dims) \
  "description = \"d\"\n[shapes]\nbench = { " dims " }\nsmall = { " dims " }\nodd = { " dims " }\n"
#define HEAD "<ir_version: 8, opset_import: [\"\" : 17]> "

double error_of(const char* text, const std::vector<float>& x) {
  auto graph = parse_graph_text(text, "g");
  EXPECT_TRUE(graph) << graph.error().text();
  const TensorView view{"x",
                        DType::kFloat32,
                        {static_cast<std::int64_t>(x.size())},
                        reinterpret_cast<const std::byte*>(x.data())};
  const auto truth = run_oracle(*graph, std::span(&view, 1), Precision::kFp64, 1);
  EXPECT_TRUE(truth) << truth.error().text();
  return errors_of_other_roundings(*graph, std::span(&view, 1), *truth, 1).at(0);
}

TEST(OtherRounding, MovesAResultByAsMuchAsItHangsOnLastBits) {
  const double plain =
      error_of(HEAD "g (float[4] x) => (float[4] y) { y = Mul(x, x) }", {1.1F, 2.1F, 3.1F, 30.1F});
  EXPECT_GT(plain, 0);
  EXPECT_LT(plain, 1000 * 0x1p-22);
  // Probabilities of scores near a thousand: their ratio moves by what the scores move.
  const double scores = error_of(HEAD "g (float[4] x) => (float[4] y) { s = Mul(x, x) y = Softmax(s) }",
                                 {31.61F, 31.62F, 31.63F, 31.6F});
  EXPECT_GT(scores, 1e-5);
  EXPECT_LT(scores, 1e-3);
}

TEST(OtherRounding, WhatIsOnlyMovedStays) {
  EXPECT_EQ(error_of(HEAD "g (float[3] x) => (float[3] y) { y = Relu(x) }", {1.5F, -2.25F, 0.1F}), 0);
}

TEST(OtherRounding, LargeResultsHaveDrawnOftenEnough) {
  const auto few = [](std::int64_t read, std::int64_t written) {
    const TensorView view{"x", DType::kFloat32, {read}, nullptr};
    return few_values(std::span(&view, 1), {OracleTensor{.shape = {written}}});
  };
  EXPECT_TRUE(few(4096, 4096));
  EXPECT_FALSE(few(4096, 8192));
  EXPECT_FALSE(few(std::int64_t{1} << 21, 1));
}

// Whole numbers are exact in whatever order they are added: their bound must not widen.
TEST(OtherRounding, WhatIsExactStaysExact) {
  ScratchTask scratch(
      SHAPES("B = 8, K = 16"),
      "g (float[B, K] x, float[K, B] w) => (float[B, B] y) { p = MatMul(x, w) y = Floor(p) }");
  auto expected = expected_outputs(scratch.bind(), InputKind::kInteger, 7, 1, nullptr);
  ASSERT_TRUE(expected) << expected.error().text();
  EXPECT_EQ(expected->outputs.at(0).yardstick_worst_abs, 0);
}

}  // namespace
}  // namespace kforge

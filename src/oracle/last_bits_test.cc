#include "oracle/last_bits.h"

#include <gtest/gtest.h>

#include "graph/graph.h"
#include "oracle/expected.h"
#include "task/scratch_task.h"

namespace kforge {
namespace {

#define SHAPES(dims) \
  "description = \"d\"\n[shapes]\nbench = { " dims " }\nsmall = { " dims " }\nodd = { " dims " }\n"

double moved(const char* text, const std::vector<float>& x) {
  auto graph = parse_graph_text(text, "g");
  EXPECT_TRUE(graph) << graph.error().text();
  const TensorView view{"x",
                        DType::kFloat32,
                        {static_cast<std::int64_t>(x.size())},
                        reinterpret_cast<const std::byte*>(x.data())};
  const auto truth = run_oracle(*graph, std::span(&view, 1), Precision::kFp64, 1);
  EXPECT_TRUE(truth) << truth.error().text();
  return moved_by_last_bits(*graph, std::span(&view, 1), *truth, 1).at(0);
}

#define HEAD "<ir_version: 8, opset_import: [\"\" : 17]> "

TEST(LastBits, MoveAResultByAsMuchAsItHangsOnThem) {
  const double plain = moved(HEAD "g (float[4] x) => (float[4] y) { y = Neg(x) }", {1, 2, 3, 1000});
  EXPECT_GT(plain, 0);
  EXPECT_LT(plain, 1000 * 0x1p-22);
  // Probabilities of scores near a thousand: their ratio moves by what the scores move.
  const double scores =
      moved(HEAD "g (float[4] x) => (float[4] y) { y = Softmax(x) }", {1000, 1000.5F, 999.75F, 1001});
  EXPECT_GT(scores, 1e-5);
  EXPECT_LT(scores, 1e-3);
}

TEST(LastBits, ZerosStayAndIntegersAreNotTouched) {
  EXPECT_EQ(moved(HEAD "g (float[3] x) => (float[3] y) { y = Exp(x) }", {0, 0, 0}), 0);
}

TEST(LastBits, LargeResultsHaveDrawnOftenEnough) {
  EXPECT_EQ(moved(HEAD "g (float[8192] x) => (float[8192] y) { y = Neg(x) }", std::vector<float>(8192, 1.5F)),
            0);
}

// A step says nothing about rounding: what is exact must stay exact.
TEST(LastBits, AStepDoesNotWidenWhatIsExact) {
  ScratchTask scratch(SHAPES("B = 40"), "g (float[B] x) => (float[B] y) { y = Floor(x) }");
  auto expected = expected_outputs(scratch.bind(), InputKind::kInteger, 7, 1, nullptr);
  ASSERT_TRUE(expected) << expected.error().text();
  EXPECT_EQ(expected->outputs.at(0).yardstick_worst_abs, 0);
  EXPECT_GT(moved(HEAD "g (float[3] x) => (float[3] y) { y = Floor(x) }", {1, 2, 3}), 0.5);
}

}  // namespace
}  // namespace kforge

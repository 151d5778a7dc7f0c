#include "oracle/row_slice.h"

#include <gtest/gtest.h>

#include "task/scratch_task.h"

namespace kforge {
namespace {

#define SLICE_SHAPES(dims) \
  "description = \"d\"\n[shapes]\nbench = { " dims " }\nsmall = { " dims " }\nodd = { " dims " }\n"

const InputChoice kChoice{InputKind::kOwn, 7};

std::optional<RowSlice> slice_of(const BoundTask& task) {
  auto whole = expected_outputs_once(task, kChoice, kChoice, 2);
  EXPECT_TRUE(whole) << (whole ? "" : whole.error().message);
  auto slice = RowSlice::find(task, *whole, kChoice, 2);
  EXPECT_TRUE(slice) << (slice ? "" : slice.error().message);
  return slice ? *slice : std::nullopt;
}

// Also where both matrices have as many rows: only one of them may be cut.
TEST(RowSlice, GivesTheRowsOfAProduct) {
  for (const char* shapes : {SLICE_SHAPES("M = 40, K = 30, N = 9"), SLICE_SHAPES("M = 30, K = 30, N = 9")}) {
    ScratchTask scratch(
        shapes, "g (float[M, K] x, float[K, N] w) => (float[M, N] y) { p = MatMul(x, w) y = Relu(p) }");
    const BoundTask task = scratch.bind();
    auto slice = slice_of(task);
    ASSERT_TRUE(slice) << shapes;
    // Other values than those it was found with.
    const InputChoice other{InputKind::kOwn, 8};
    auto whole = expected_outputs_once(task, other, other, 2);
    auto rows = slice->compute(task, other, other, 11, 2);
    ASSERT_TRUE(whole && rows);
    ASSERT_EQ((*rows)[0].size(), 2u * 9u);
    for (std::size_t i = 0; i < 18; ++i) EXPECT_FLOAT_EQ((*rows)[0][i], whole->outputs[0].values[11 * 9 + i]);
  }
}

TEST(RowSlice, IsRefusedWhereRowsDependOnEachOther) {
  ScratchTask columns(SLICE_SHAPES("B = 40, D = 6"),
                      "g (float[B, D] x) => (float[B, D] y) { y = Softmax<axis = 0>(x) }");
  EXPECT_FALSE(slice_of(columns.bind()));
  ScratchTask sum(SLICE_SHAPES("B = 40, D = 6"),
                  "g (float[B, D] x) => (float y) { y = ReduceSum<keepdims = 0>(x) }");
  EXPECT_FALSE(slice_of(sum.bind()));
  ScratchTask few(SLICE_SHAPES("B = 4, D = 6"), "g (float[B, D] x) => (float[B, D] y) { y = Relu(x) }");
  EXPECT_FALSE(slice_of(few.bind())) << "little to gain";
}

}  // namespace
}  // namespace kforge

#include <gtest/gtest.h>

#include "task/inputs.h"
#include "task/scratch_task.h"

namespace kforge {
namespace {

struct Case {
  const char* name;
  const char* graph;
  bool exact;
};

class Exact : public testing::TestWithParam<Case> {};

TEST_P(Exact, IsDecided) {
  ScratchTask scratch(
      "description = \"d\"\n[shapes]\nbench = { B = 8 }\nsmall = { B = 8 }\nodd = { B = 8 }\n",
      GetParam().graph);
  EXPECT_EQ(exact_on_integers(scratch.bind("small")), GetParam().exact);
}

INSTANTIATE_TEST_SUITE_P(
    All, Exact,
    testing::Values(
        Case{"matmul", "g (float[B, 512] x, float[512, 8] w) => (float[B, 8] y) { y = MatMul(x, w) }", true},
        Case{"two_matmuls",
             "g (float[B, 512] x, float[512, 8] w, float[8, 8] v) => (float[B, 8] y) { h = MatMul(x, w) y = "
             "MatMul(h, v) }",
             true},
        Case{"too_large",
             "g (float[B, 4096] x, float[4096, 4096] w, float[4096, 8] v) => (float[B, 8] y) { h = MatMul(x, "
             "w) y = MatMul(h, v) }",
             false},
        Case{"chain_of_products",
             "g (float[B] x) => (float[B] y) { a = Mul(x, x) b = Mul(a, a) c = Mul(b, b) d = Mul(c, c) y = "
             "Mul(d, d) }",
             false},
        Case{"exp", "g (float[B] x) => (float[B] y) { y = Exp(x) }", false},
        Case{"halves", "g (float[B] x) => (float[B] y) <float h = {0.5}> { y = Mul(x, h) }", true},
        Case{"tenths", "g (float[B] x) => (float[B] y) <float h = {0.1}> { y = Mul(x, h) }", false},
        Case{"mean_of_eight",
             "g (float[B, 8] x) => (float[B] y) { y = ReduceMean <axes = [1], keepdims = 0> (x) }", true},
        Case{"mean_of_seven",
             "g (float[B, 7] x) => (float[B] y) { y = ReduceMean <axes = [1], keepdims = 0> (x) }", false},
        Case{"relu_pool",
             "g (float[B, 3, 9, 9] x, float[4, 3, 3, 3] w) => (float[B, 4, H, W] y) { c = Conv(x, w) r = "
             "Relu(c) y = MaxPool <kernel_shape = [2, 2]> (r) }",
             true},
        Case{"bf16_sum",
             "g (bfloat16[B, 512] x) => (bfloat16[B] y) <int64[1] a = {1}> { y = ReduceSum <keepdims = 0> "
             "(x, a) }",
             false},
        Case{"argmax", "g (float[B, 9] x) => (int64[B, 1] y) { y = ArgMax <axis = 1> (x) }", true},
        Case{"cumsum", "g (float[B, 900] x) => (float[B, 900] y) <int64 a = {1}> { y = CumSum (x, a) }",
             true},
        Case{"fill",
             "g (float[B] x) => (float[B] y) { s = Shape(x) c = ConstantOfShape <value = float[1] {-1e30}> "
             "(s) y = Add(x, c) }",
             false}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kforge

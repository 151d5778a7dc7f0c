// Recurrent operators against steps written out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/one_node.h"

namespace kforge {
namespace {

using testing::DoubleNear;
using testing::HasSubstr;
using testing::Pointwise;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One unit, one sequence: every gate is a number.
TEST(Rnn, LstmFollowsItsEquations) {
  const TestTensor x = floats({3, 1, 1}, {0.5, -1, 2});
  const TestTensor w = floats({1, 4, 1}, {0.25, 0.5, -0.75, 1}), r = floats({1, 4, 1}, {1, -0.5, 0.25, 0.75});
  const TestTensor b = floats({1, 8}, {0.125, 0.25, 0.5, -0.25, 0, 0.5, 0, 0.25});
  double h = 0, c = 0;
  std::vector<double> wanted;
  for (double v : x.values) {
    const double i = sigmoid(0.25 * v + h + 0.125), o = sigmoid(0.5 * v - 0.5 * h + 0.75);
    const double f = sigmoid(-0.75 * v + 0.25 * h + 0.5), g = std::tanh(v + 0.75 * h);
    c = f * c + i * g;
    h = o * std::tanh(c);
    wanted.push_back(h);
  }
  const OneNode node{"LSTM", {x, w, r, b}, {{"hidden_size", std::int64_t{1}}}, 3};
  EXPECT_THAT(run_values(node, 0), Pointwise(DoubleNear(1e-12), wanted));
  EXPECT_THAT(run_values(node, 1), Pointwise(DoubleNear(1e-12), {h}));
  EXPECT_THAT(run_values(node, 2), Pointwise(DoubleNear(1e-12), {c}));
}

TEST(Rnn, GruWithAndWithoutLinearBeforeReset) {
  const TestTensor x = floats({2, 1, 1}, {1, -0.5});
  const TestTensor w = floats({1, 3, 1}, {0.5, -0.25, 1}), r = floats({1, 3, 1}, {0.75, 0.5, -1});
  const TestTensor b = floats({1, 6}, {0, 0, 0, 0, 0, 0.5});
  for (const std::int64_t linear : {0, 1}) {
    double h = 0.25;
    for (double v : x.values) {
      const double z = sigmoid(0.5 * v + 0.75 * h), reset = sigmoid(-0.25 * v + 0.5 * h);
      const double from_state = linear ? reset * (-h + 0.5) : -(reset * h) + 0.5;
      h = (1 - z) * std::tanh(v + from_state) + z * h;
    }
    const OneNode node{"GRU",
                       {x, w, r, b, nothing(), floats({1, 1, 1}, {0.25})},
                       {{"hidden_size", std::int64_t{1}}, {"linear_before_reset", linear}},
                       2};
    EXPECT_THAT(run_values(node, 1), Pointwise(DoubleNear(1e-12), {h})) << linear;
  }
}

TEST(Rnn, ReverseShortAndBatchFirstSequences) {
  // The state is just the sum of what was seen.
  const std::map<std::string, Attribute> attributes = {
      {"activations", std::vector<std::string>{"Affine", "Affine"}},
      {"direction", std::string("bidirectional")},
      {"layout", std::int64_t{1}}};
  const TestTensor x = floats({2, 3, 1}, {1, 2, 4, 10, 20, 40});  // two sequences
  const TestTensor ones = floats({2, 1, 1}, {1, 1});
  const OneNode node{"RNN", {x, ones, ones, nothing(), {DType::kInt32, {2}, {3, 2}}}, attributes, 2};
  EXPECT_EQ(run_shape(node, 0), (Shape{2, 3, 2, 1}));
  EXPECT_THAT(run_values(node, 0), testing::ElementsAre(1, 7, 3, 6, 7, 4, 10, 30, 30, 20, 0, 0));
  EXPECT_THAT(run_values(node, 1), testing::ElementsAre(7, 7, 30, 30));
}

TEST(Rnn, ShapesThatDoNotFitAreRefused) {
  const TestTensor x = floats({1, 1, 2}, {1, 2}), w = floats({1, 1, 2}, {1, 1}), r = floats({1, 1, 1}, {1});
  EXPECT_THAT(refusal_of({"RNN", {x, floats({1, 1, 3}, {1, 1, 1}), r}}), HasSubstr("input 1 has shape"));
  EXPECT_THAT(refusal_of({"RNN", {x, w, r, nothing(), {DType::kInt32, {1}, {2}}}}), HasSubstr("length of 2"));
  EXPECT_THAT(refusal_of({"RNN", {x, w, r}, {{"activations", std::vector<std::string>{"Cosine"}}}}),
              HasSubstr("cosine"));
  EXPECT_THAT(refusal_of({"LSTM", {x, w, r}}), HasSubstr("instead of"));
}

}  // namespace
}  // namespace kforge

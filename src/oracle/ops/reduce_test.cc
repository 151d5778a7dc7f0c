// Reductions, choices, softmax, normalisation and running sums: order of sums, NaN, empty axes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/one_node.h"

namespace kforge {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

const std::map<std::string, Attribute> kLastAxis = {{"axes", std::vector<std::int64_t>{-1}},
                                                    {"keepdims", std::int64_t{0}}};
const std::map<std::string, Attribute> kFirstAxis = {{"axes", std::vector<std::int64_t>{0}},
                                                     {"keepdims", std::int64_t{0}}};

TEST(Reduce, NaNReachesTheResult) {
  const TestTensor x = floats({2, 2}, {1, kNaN, 3, 4});
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceLogSumExp"}) {
    const auto values = run_values(
        {op, {x}, std::string(op) == "ReduceSum" ? std::map<std::string, Attribute>{} : kLastAxis});
    ASSERT_FALSE(values.empty()) << op;
    EXPECT_TRUE(std::isnan(values[0])) << op;
  }
}

TEST(Reduce, TheYardstickSumsInIndexOrder) {
  // 2^24 + 1 + 1 loses both ones in float; 1 + 1 + 2^24 would keep them.
  const double big = 16777216;
  const OneNode rows{"ReduceSum", {floats({1, 3}, {big, 1, 1}), int64s({1}, {1})}};
  EXPECT_THAT(run_values(rows, 0, Precision::kFp32), ElementsAre(big));
  EXPECT_THAT(run_values(rows), ElementsAre(big + 2));
  const OneNode columns{"ReduceSum", {floats({3, 2}, {big, 1, 1, 1, 1, big}), int64s({1}, {0})}};
  EXPECT_THAT(run_values(columns, 0, Precision::kFp32), ElementsAre(big, big + 2));
}

// One chain of four million equal floats loses percents; sixteen chains lose far less. Short sums stay
// one chain.
TEST(Reduce, LongSumsOfTheYardstickAreTakenInChains) {
  const std::int64_t n = 1 << 22;
  const TestTensor x = floats({n}, std::vector<double>(static_cast<std::size_t>(n), 0.1f));
  const double exact = static_cast<double>(0.1f) * static_cast<double>(n);
  float chain = 0;
  for (std::int64_t i = 0; i < n; ++i) chain += 0.1f;
  const double lost = std::fabs(static_cast<double>(chain) - exact);
  EXPECT_GT(lost, 0.01 * exact);
  for (const char* op : {"ReduceSum", "ReduceL1"}) {
    const auto sum = run_values({op, {x}, {}}, 0, Precision::kFp32);
    EXPECT_NEAR(sum.at(0), exact, lost / 4) << op;
  }
}

TEST(Reduce, AxesInTheMiddleAndSeveralAtOnce) {
  std::vector<double> values(24);
  for (std::size_t i = 0; i < 24; ++i) values[i] = static_cast<double>(i);
  const TestTensor x = floats({2, 3, 4}, values);
  EXPECT_THAT(run_values({"ReduceMax", {x}, {{"axes", std::vector<std::int64_t>{1}}}}),
              ElementsAre(8, 9, 10, 11, 20, 21, 22, 23));
  EXPECT_EQ(run_shape({"ReduceMax", {x}, {{"axes", std::vector<std::int64_t>{1}}}}), (Shape{2, 1, 4}));
  EXPECT_THAT(run_values({"ReduceMean", {x}, {{"axes", std::vector<std::int64_t>{0, 2}}}}),
              ElementsAre(7.5, 11.5, 15.5));
  EXPECT_THAT(refusal_of({"ReduceMean", {x}, {{"axes", std::vector<std::int64_t>{3}}}}), HasSubstr("axis 3"));
}

TEST(Reduce, NothingToReduceGivesTheNeutralElement) {
  const TestTensor x = floats({2, 0}, {});
  EXPECT_THAT(run_values({"ReduceProd", {x}, kLastAxis}), ElementsAre(1, 1));
  EXPECT_THAT(run_values({"ReduceMax", {x}, kLastAxis}), ElementsAre(-kInf, -kInf));
  EXPECT_THAT(refusal_of({"ReduceMax", {int64s({2, 0}, {})}, kLastAxis}), HasSubstr("no largest"));
}

TEST(Reduce, LogSumExpDoesNotOverflow) {
  EXPECT_THAT(run_values({"ReduceLogSumExp", {floats({1, 2}, {1e4, 1e4})}, kLastAxis}),
              ElementsAre(DoubleNear(1e4 + std::log(2.0), 1e-9)));
  EXPECT_THAT(run_values({"ReduceLogSumExp", {floats({1, 2}, {-kInf, -kInf})}, kLastAxis}),
              ElementsAre(-kInf));
}

TEST(Choose, TiesGoToTheFirstOrLastIndex) {
  const TestTensor x = floats({1, 4}, {2, 5, 5, 1});
  EXPECT_THAT(run_values({"ArgMax", {x}, {{"axis", std::int64_t{1}}}}), ElementsAre(1));
  EXPECT_THAT(
      run_values({"ArgMax", {x}, {{"axis", std::int64_t{1}}, {"select_last_index", std::int64_t{1}}}}),
      ElementsAre(2));
  EXPECT_THAT(run_values({"ArgMax", {floats({3}, {1, kNaN, 7})}}), ElementsAre(1));
}

TEST(Choose, TopKIsStableAndPutsNaNFirst) {
  const OneNode node{"TopK", {floats({5}, {1, 3, 3, kNaN, 2}), int64s({1}, {4})}, {}, 2};
  EXPECT_THAT(run_values(node, 1), ElementsAre(3, 1, 2, 4));
  const OneNode smallest{
      "TopK", {floats({4}, {1, 3, 1, 2}), int64s({1}, {3})}, {{"largest", std::int64_t{0}}}, 2};
  EXPECT_THAT(run_values(smallest, 1), ElementsAre(0, 2, 3));
  EXPECT_THAT(refusal_of({"TopK", {floats({2}, {1, 2}), int64s({1}, {3})}, {}, 2}),
              HasSubstr("first 3 of 2"));
}

TEST(Softmax, SurvivesLargeValuesAndInnerAxes) {
  EXPECT_THAT(run_values({"Softmax", {floats({1, 2}, {1e4, 1e4})}}), ElementsAre(0.5, 0.5));
  EXPECT_THAT(run_values({"Softmax", {floats({2, 2}, {0, 5, 0, 5})}, {{"axis", std::int64_t{0}}}}),
              ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(refusal_of({"Softmax", {floats({2}, {1, 2})}, {{"axis", std::int64_t{1}}}}),
              HasSubstr("axis 1"));
}

TEST(Normalize, TwoPassVarianceKeepsItsDigits) {
  const TestTensor x = floats({1, 1, 4}, {1e6 + 1, 1e6 + 2, 1e6 + 3, 1e6 + 4});
  const OneNode node{"InstanceNormalization", {x, floats({1}, {1}), floats({1}, {0})}, {{"epsilon", 0.0f}}};
  const double deviation = std::sqrt(1.25);
  EXPECT_THAT(run_values(node), Pointwise(DoubleNear(1e-9), {-1.5 / deviation, -0.5 / deviation,
                                                             0.5 / deviation, 1.5 / deviation}));
  EXPECT_THAT(
      run_values(node, 0, Precision::kFp32),
      Pointwise(DoubleNear(1e-6), {-1.5 / deviation, -0.5 / deviation, 0.5 / deviation, 1.5 / deviation}));
}

TEST(Normalize, GroupsHaveTheirOwnMoments) {
  const TestTensor x = floats({1, 4, 1}, {1, 3, 10, 30});
  const TestTensor scale = floats({4}, {1, 1, 1, 2}), bias = floats({4}, {0, 0, 0, 5});
  const OneNode node{
      "GroupNormalization", {x, scale, bias}, {{"num_groups", std::int64_t{2}}, {"epsilon", 0.0f}}};
  EXPECT_THAT(run_values(node), ElementsAre(-1, 1, -1, 7));
  EXPECT_THAT(refusal_of({"GroupNormalization", {x, scale, bias}, {{"num_groups", std::int64_t{3}}}}),
              HasSubstr("3 groups"));
  const OneNode per_group{"GroupNormalization",
                          {x, floats({2}, {1, 2}), floats({2}, {0, 5})},
                          {{"num_groups", std::int64_t{2}}, {"epsilon", 0.0f}}};
  EXPECT_THAT(run_values(per_group), ElementsAre(-1, 1, 3, 7));
}

TEST(Normalize, RootMeanSquare) {
  const OneNode node{"RMSNormalization", {floats({1, 2}, {3, 4}), floats({2}, {1, 2})}, {{"epsilon", 0.0f}}};
  const double size = std::sqrt(12.5);
  EXPECT_THAT(run_values(node), Pointwise(DoubleNear(1e-12), {3 / size, 8 / size}));
}

TEST(Scan, RunningSumsAndProducts) {
  const TestTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6}), axis = int64s({}, {1});
  EXPECT_THAT(
      run_values({"CumSum", {x, axis}, {{"reverse", std::int64_t{1}}, {"exclusive", std::int64_t{1}}}}),
      ElementsAre(5, 3, 0, 11, 6, 0));
  EXPECT_THAT(run_values({"CumProd", {x, axis}}), ElementsAre(1, 2, 6, 4, 20, 120));
  EXPECT_THAT(refusal_of({"CumSum", {x, int64s({}, {2})}}), HasSubstr("axis 2"));
}

}  // namespace
}  // namespace kforge

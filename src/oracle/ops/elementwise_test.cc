// Elementwise operators beyond what ONNX's own tests cover: NaN and infinities, integers that wrap,
// broadcasting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/one_node.h"

namespace kforge {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::NanSensitiveDoubleEq;

auto same(std::vector<double> values) {
  std::vector<testing::Matcher<double>> matchers;
  for (double value : values) matchers.push_back(NanSensitiveDoubleEq(value));
  return ElementsAreArray(matchers);
}

TEST(Elementwise, NaNPassesThroughActivationsAndLimits) {
  const TestTensor x = floats({3}, {kNaN, -1, 2});
  EXPECT_THAT(run_values({"Relu", {x}}), same({kNaN, 0, 2}));
  EXPECT_THAT(run_values({"Clip", {x, floats({}, {0}), floats({}, {1})}}), same({kNaN, 0, 1}));
  EXPECT_THAT(run_values({"Sign", {x}}), same({kNaN, -1, 1}));
  EXPECT_THAT(run_values({"HardSigmoid", {x}, {{"alpha", 1.0f}, {"beta", 0.0f}}}), same({kNaN, 0, 1}));
  EXPECT_THAT(run_values({"LeakyRelu", {x}, {{"alpha", 0.5f}}}), same({kNaN, -0.5, 2}));
}

TEST(Elementwise, NaNWinsInMaxAndMin) {
  const TestTensor a = floats({3}, {kNaN, 1, 3}), b = floats({3}, {0, kNaN, 2});
  EXPECT_THAT(run_values({"Max", {a, b}}), same({kNaN, kNaN, 3}));
  EXPECT_THAT(run_values({"Min", {a, b}}), same({kNaN, kNaN, 2}));
}

TEST(Elementwise, ActivationsDoNotOverflow) {
  const TestTensor x = floats({4}, {-1e4, 1e4, -kInf, kInf});
  EXPECT_THAT(run_values({"Sigmoid", {x}}), same({0, 1, 0, 1}));
  EXPECT_THAT(run_values({"Softplus", {x}}), same({0, 1e4, 0, kInf}));
  EXPECT_THAT(run_values({"Mish", {floats({2}, {-1e4, 1e4})}}), same({0, 1e4}));
  EXPECT_THAT(run_values({"Elu", {x}}), same({-1, 1e4, -1, kInf}));
}

TEST(Elementwise, GeluKeepsItsDigitsFarFromZero) {
  const double x = -10, exact = 0.5 * x * std::erfc(10 / std::sqrt(2.0));
  EXPECT_NEAR(run_values({"Gelu", {floats({1}, {x})}})[0] / exact, 1, 1e-14);
  EXPECT_THAT(refusal_of({"Gelu", {floats({1}, {1})}, {{"approximate", std::string("cubic")}}}),
              HasSubstr("cubic"));
}

TEST(Elementwise, GeluByTanhDiffersFromTheExactOne) {
  const double x = 1.5, inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  const double value = run_values({"Gelu", {floats({1}, {x})}, {{"approximate", std::string("tanh")}}})[0];
  EXPECT_NEAR(value, 0.5 * x * (1 + std::tanh(inner)), 1e-12);
}

TEST(Elementwise, IntegersWrapToTheirType) {
  const TestTensor a{DType::kInt8, {2}, {127, -128}}, b{DType::kInt8, {2}, {1, -1}};
  EXPECT_THAT(run_values({"Add", {a, b}}), ElementsAre(-128, 127));
  EXPECT_THAT(run_values({"Mul", {{DType::kUInt8, {1}, {200}}, {DType::kUInt8, {1}, {2}}}}),
              ElementsAre(144));
  EXPECT_THAT(run_values({"Neg", {{DType::kInt8, {1}, {-128}}}}), ElementsAre(-128));
  EXPECT_THAT(run_values({"Div", {a, b}}), ElementsAre(127, -128));
}

TEST(Elementwise, IntegerDivisionGoesTowardsZeroAndModFollowsTheDivisor) {
  const TestTensor a = int64s({4}, {7, -7, 7, -7}), b = int64s({4}, {2, 2, -2, -2});
  EXPECT_THAT(run_values({"Div", {a, b}}), ElementsAre(3, -3, -3, 3));
  EXPECT_THAT(run_values({"Mod", {a, b}}), ElementsAre(1, 1, -1, -1));
  EXPECT_THAT(run_values({"Mod", {a, b}, {{"fmod", std::int64_t{1}}}}), ElementsAre(1, -1, 1, -1));
}

TEST(Elementwise, IntegerDivisionByZeroIsRefused) {
  for (const char* op : {"Div", "Mod"}) {
    EXPECT_THAT(refusal_of({op, {int64s({1}, {1}), int64s({1}, {0})}}), HasSubstr("divided by zero"));
    EXPECT_THAT(refusal_of({op, {{DType::kUInt64, {1}, {1}}, {DType::kUInt64, {1}, {0}}}}),
                HasSubstr("divided by zero"));
  }
  EXPECT_THAT(refusal_of({"Pow", {int64s({1}, {0}), int64s({1}, {-1})}}), HasSubstr("negative power"));
}

TEST(Elementwise, UnsignedSixtyFourBitValuesCompareAsSuch) {
  const TestTensor large{DType::kUInt64, {1}, {18446744073709549568.0}}, small{DType::kUInt64, {1}, {1}};
  EXPECT_THAT(run_values({"Greater", {large, small}}), ElementsAre(1));
  EXPECT_THAT(run_values({"Max", {large, small}}), run_values({"Identity", {large}}));
  EXPECT_THAT(run_values({"Div", {large, large}}), ElementsAre(1));
  EXPECT_THAT(run_values({"Cast", {large}, {{"to", std::int64_t{11}}}}), ElementsAre(18446744073709549568.0));
}

TEST(Elementwise, BroadcastingReachesOverBothOperands) {
  const OneNode node{"Sub", {floats({2, 1}, {10, 20}), floats({3}, {1, 2, 3})}};
  EXPECT_EQ(run_shape(node), (Shape{2, 3}));
  EXPECT_THAT(run_values(node), ElementsAre(9, 8, 7, 19, 18, 17));
  const OneNode three{"Add", {floats({2, 1, 2}, {0, 1, 10, 11}), floats({2, 1}, {100, 200})}};
  EXPECT_THAT(run_values(three), ElementsAre(100, 101, 200, 201, 110, 111, 210, 211));
}

TEST(Elementwise, EmptyTensorsStayEmpty) {
  const OneNode node{"Add", {floats({0, 3}, {}), floats({3}, {1, 2, 3})}};
  EXPECT_EQ(run_shape(node), (Shape{0, 3}));
  EXPECT_THAT(run_values(node), IsEmpty());
}

TEST(Elementwise, OperandsOfDifferentTypesAreRefused) {
  EXPECT_THAT(refusal_of({"Add", {floats({1}, {1}), int64s({1}, {1})}}), HasSubstr("float32 and int64"));
  EXPECT_THAT(refusal_of({"Relu", {}}), HasSubstr("input 0 is missing"));
}

TEST(Elementwise, ShiftsByTheWidthOrMoreGiveZero) {
  const TestTensor x{DType::kUInt8, {3}, {255, 255, 1}}, by{DType::kUInt8, {3}, {4, 200, 8}};
  EXPECT_THAT(run_values({"BitShift", {x, by}, {{"direction", std::string("LEFT")}}}),
              ElementsAre(240, 0, 0));
  EXPECT_THAT(refusal_of({"BitShift", {x, by}}), HasSubstr("direction"));
}

TEST(Elementwise, CastsRoundNarrowFloatsInBothPrecisions) {
  const std::map<std::string, Attribute> to_bf16 = {{"to", std::int64_t{16}}},
                                         to_fp16 = {{"to", std::int64_t{10}}};
  const TestTensor x = floats({2}, {1.0 + 1.0 / 256, 1e6});
  EXPECT_THAT(run_values({"Cast", {x}, to_bf16}), ElementsAre(1, 999424));
  EXPECT_THAT(run_values({"Cast", {x}, to_bf16}, 0, Precision::kFp32), ElementsAre(1, 999424));
  EXPECT_THAT(run_values({"Cast", {x}, to_fp16}), ElementsAre(1.00390625, kInf));
}

TEST(Elementwise, CastsOfWildValuesToIntegersAreDefined) {
  const TestTensor x = floats({4}, {kNaN, kInf, -kInf, 300.7});
  EXPECT_THAT(run_values({"Cast", {x}, {{"to", std::int64_t{7}}}}).size(), 4u);
  EXPECT_EQ(run_values({"Cast", {x}, {{"to", std::int64_t{2}}}})[3], 44);
  EXPECT_THAT(refusal_of({"Cast", {x}, {{"to", std::int64_t{99}}}}), HasSubstr("element type 99"));
}

TEST(Elementwise, ThreadsDoNotChangeResults) {
  std::vector<double> values(300'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i));
  const OneNode node{"Tanh", {floats({300'000}, values)}};
  EXPECT_EQ(values_of((*node.run(Precision::kFp32, 1))[0]), values_of((*node.run(Precision::kFp32, 7))[0]));
}

}  // namespace
}  // namespace kforge

#include "task/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kforge {
namespace {

using Kind = Distribution::Kind;

BoundArgument argument(DType dtype, Shape shape, Distribution distribution) {
  BoundArgument out;
  out.name = out.c_name = "x";
  out.role = Role::kInput;
  out.dtype = dtype;
  out.shape = std::move(shape);
  out.distribution = distribution;
  return out;
}

std::vector<double> filled(const BoundArgument& argument, InputKind kind, std::uint64_t seed = 1,
                           std::size_t index = 0) {
  ConstantTensor tensor{argument.dtype, argument.shape, std::vector<std::byte>(argument.bytes()), {}};
  fill_argument(argument, kind, seed, index, tensor.data);
  return tensor.as_double();
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

TEST(Inputs, DependOnSeedIndexAndKind) {
  auto x = argument(DType::kFloat32, {100, 77}, {Kind::kNormal, 0, 1});
  EXPECT_EQ(filled(x, InputKind::kOwn), filled(x, InputKind::kOwn));
  EXPECT_NE(filled(x, InputKind::kOwn, 1), filled(x, InputKind::kOwn, 2));
  EXPECT_NE(filled(x, InputKind::kOwn, 1, 0), filled(x, InputKind::kOwn, 1, 1));
  EXPECT_NE(filled(x, InputKind::kOwn), filled(x, InputKind::kNormal));
}

TEST(Inputs, TwoThreadsMakeWhatOneMakes) {
  // Large enough for two threads; its beginning equals the small tensor's.
  auto large = filled(argument(DType::kFloat32, {3, 1 << 20}, {Kind::kNormal, 0, 1}), InputKind::kOwn);
  auto small = filled(argument(DType::kFloat32, {5000}, {Kind::kNormal, 0, 1}), InputKind::kOwn);
  EXPECT_TRUE(std::equal(small.begin(), small.end(), large.begin()));
  EXPECT_NE(large[0], large[large.size() / 2]);
}

TEST(Inputs, KindsOfFreeTensors) {
  auto x = argument(DType::kFloat32, {64, 64}, {Kind::kUniform, -1, 1});
  for (double v : filled(x, InputKind::kOwn)) ASSERT_LE(std::fabs(v), 1);
  for (double v : filled(x, InputKind::kInteger)) ASSERT_TRUE(v == std::round(v) && std::fabs(v) <= 3);
  for (double v : filled(x, InputKind::kZero)) ASSERT_EQ(v, 0);
  auto equal = filled(x, InputKind::kEqual);
  EXPECT_EQ(std::count(equal.begin(), equal.end(), equal[0]), static_cast<std::ptrdiff_t>(equal.size()));
  auto large = filled(x, InputKind::kLarge);
  EXPECT_GT(*std::max_element(large.begin(), large.end()), 9000);
  auto shifted = filled(x, InputKind::kShifted);
  double m = mean(shifted), deviation = 0;
  for (double v : shifted) deviation += (v - m) * (v - m);
  deviation = std::sqrt(deviation / static_cast<double>(shifted.size()));
  EXPECT_GT(std::fabs(m) / deviation, 500);
  auto normal = filled(x, InputKind::kNormal);
  EXPECT_LT(*std::max_element(normal.begin(), normal.end()), 20);
}

TEST(Inputs, ConstraintsHoldUnderEveryKind) {
  for (InputKind kind : kAllInputKinds) {
    SCOPED_TRACE(std::string(name_of(kind)));
    for (double v : filled(argument(DType::kFloat32, {5000}, {Kind::kPositive, 0.5, 1.5}), kind))
      ASSERT_GE(v, 0.5);
    for (double v : filled(argument(DType::kInt64, {5000}, {Kind::kInteger, 3, 9}), kind))
      ASSERT_TRUE(v >= 3 && v < 9);
    for (double v : filled(argument(DType::kFloat32, {5000}, {Kind::kSigns}), kind))
      ASSERT_EQ(std::fabs(v), 1);
    for (double v : filled(argument(DType::kBool, {5000}, {Kind::kMask, 0.5}), kind))
      ASSERT_TRUE(v == 0 || v == 1);
    for (bool logarithm : {false, true}) {
      auto rows = filled(
          argument(DType::kFloat32, {20, 300}, {logarithm ? Kind::kLogProbability : Kind::kProbability}),
          kind);
      for (std::size_t row = 0; row < 20; ++row) {
        double sum = 0;
        for (std::size_t i = 0; i < 300; ++i)
          sum += logarithm ? std::exp(rows[row * 300 + i]) : rows[row * 300 + i];
        ASSERT_NEAR(sum, 1, 1e-5);
      }
    }
  }
}

TEST(Inputs, MaskHasItsProbability) {
  EXPECT_NEAR(mean(filled(argument(DType::kBool, {100000}, {Kind::kMask, 0.8}), InputKind::kOwn)), 0.8, 0.01);
  EXPECT_EQ(mean(filled(argument(DType::kFloat32, {1000}, {Kind::kMask, 1.0}), InputKind::kOwn)), 1);
  EXPECT_EQ(mean(filled(argument(DType::kFloat32, {1000}, {Kind::kMask, 0.0}), InputKind::kOwn)), 0);
}

TEST(Inputs, EveryDtypeEveryKindIsFinite) {
  for (int i = 0; i < static_cast<int>(DType::kString); ++i) {
    auto dtype = static_cast<DType>(i);
    Distribution distribution =
        is_float(dtype) ? Distribution{Kind::kNormal, 0, 1} : Distribution{Kind::kInteger, 0, 2};
    for (InputKind kind : kAllInputKinds)
      for (double v : filled(argument(dtype, {3, 1000}, distribution), kind))
        ASSERT_TRUE(std::isfinite(v)) << name_of(dtype) << " " << name_of(kind);
  }
}

TEST(Inputs, FixedValues) {
  float values[] = {1, 2, 3, 4};
  ConstantTensor tensor{DType::kFloat32, {4}, {}, {}};
  tensor.data.resize(sizeof values);
  std::memcpy(tensor.data.data(), values, sizeof values);
  BoundArgument w = argument(DType::kFloat32, {4}, {Kind::kFixed});
  w.role = Role::kParam;
  w.fixed = &tensor;
  EXPECT_EQ(filled(w, InputKind::kOwn), (std::vector<double>{1, 2, 3, 4}));
  // All are positive (variances, perhaps), so they stay so.
  for (InputKind kind : kAllInputKinds)
    for (double v : filled(w, kind)) EXPECT_GT(v, 0) << name_of(kind);
}

TEST(Inputs, EmptyTensor) {
  EXPECT_TRUE(filled(argument(DType::kFloat32, {0, 4}, {Kind::kNormal, 0, 1}), InputKind::kOwn).empty());
}

}  // namespace
}  // namespace kforge

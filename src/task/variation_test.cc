#include "task/variation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "task/inputs.h"

namespace kforge {
namespace {

using Kind = Distribution::Kind;

BoundTask task_of(int arguments, Distribution distribution = {Kind::kNormal, 0, 1},
                  DType dtype = DType::kFloat32) {
  BoundTask task;
  for (int i = 0; i < arguments; ++i) {
    BoundArgument& argument = task.arguments.emplace_back();
    argument.name = argument.c_name = fmt::format("x{}", i);
    argument.role = Role::kInput;
    argument.dtype = dtype;
    argument.shape = {64, 100};
    argument.distribution = distribution;
  }
  return task;
}

std::vector<double> values(const BoundTask& task, std::size_t index, Variation variation) {
  const BoundArgument& argument = task.arguments[index];
  ConstantTensor tensor{argument.dtype, argument.shape, std::vector<std::byte>(argument.bytes()), {}};
  fill_chosen(task, index, {InputKind::kOwn, 7, variation}, tensor.data);
  return tensor.as_double();
}

// The elements that differ from those without a variation.
std::vector<std::size_t> changed(const BoundTask& task, Variation variation, std::size_t index = 0) {
  auto before = values(task, index, {}), after = values(task, index, variation);
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) different.push_back(i);
  return different;
}

std::int64_t count_nan(const std::vector<double>& all) {
  return std::ranges::count_if(all, [](double value) { return std::isnan(value); });
}

// Only in the argument that is named; each reading changes the same elements and no others.
TEST(Variation, SpecialValuesInOneArgument) {
  BoundTask task = task_of(2);
  for (bool sparse : {false, true}) {
    Variation special{.part = VariedPart::kSpecial, .seed = 3, .only = 1, .sparse = sparse};
    EXPECT_TRUE(changed(task, special, 0).empty());
    const auto plain = values(task, 1, {}), read = values(task, 1, special);
    const auto infinite = std::ranges::count_if(read, [](double value) { return std::isinf(value); });
    EXPECT_GT(count_nan(read), 0);
    EXPECT_EQ(infinite > 0, !sparse);
    for (VariedPart part : {VariedPart::kSpecialLow, VariedPart::kSpecialHigh, VariedPart::kSpecialZero,
                            VariedPart::kSpecialOther}) {
      special.part = part;
      const auto other = values(task, 1, special);
      EXPECT_EQ(count_nan(other), 0);
      for (std::size_t i = 0; i < plain.size(); ++i)
        EXPECT_EQ(read[i] == plain[i], other[i] == plain[i]) << i;
    }
  }
}

// A program that adds its inputs up sees no difference.
TEST(Variation, TheSameValuesInAnotherOrder) {
  BoundTask task = task_of(1);
  auto before = values(task, 0, {}), after = values(task, 0, {VariedPart::kOrder, 3});
  EXPECT_NE(before, after);
  EXPECT_TRUE(std::ranges::is_permutation(before, after));
}

// A program that takes what is like an earlier input for the same sees none either.
TEST(Variation, EveryValueByAThousandth) {
  for (DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kFloat16}) {
    BoundTask task = task_of(1, {Kind::kNormal, 0, 1}, dtype);
    auto before = values(task, 0, {}), after = values(task, 0, {VariedPart::kSlightly, 3, true});
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (std::abs(before[i]) < 1e-3) continue;
      EXPECT_NE(before[i], after[i]);
      EXPECT_NEAR(after[i], before[i], 0.03 * std::abs(before[i]));
    }
  }
  BoundTask signs = task_of(1, {Kind::kSigns, 0, 1});
  for (double value : values(signs, 0, {VariedPart::kSlightly, 3})) EXPECT_EQ(std::abs(value), 1);
}

// Few, and at most one in a row: most rows must come out as they would without.
TEST(Variation, SparseSpecialValuesLeaveMostRowsAlone) {
  BoundTask task = task_of(1);
  const Variation sparse{.part = VariedPart::kSpecial, .seed = 5, .only = 0, .sparse = true};
  auto all = changed(task, sparse);
  EXPECT_EQ(all.size(), 16u);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_NE(all[i - 1] / 100, all[i] / 100);
  EXPECT_EQ(count_nan(values(task, 0, sparse)), 8);
}

// The elements of a narrow type are the special values themselves, not halves of floats.
TEST(Variation, SpecialValuesInNarrowTypes) {
  const Variation sparse{.part = VariedPart::kSpecial, .seed = 5, .only = 0, .sparse = true};
  for (DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    BoundTask task = task_of(1, {Kind::kNormal, 0, 1}, dtype);
    EXPECT_EQ(changed(task, sparse).size(), 16u) << name_of(dtype);
    EXPECT_EQ(count_nan(values(task, 0, sparse)), 8) << name_of(dtype);
  }
}

TEST(Variation, SingleElements) {
  BoundTask task = task_of(1);
  EXPECT_TRUE(changed(task, {}).empty());
  EXPECT_EQ(changed(task, {VariedPart::kFirst, 3}), std::vector<std::size_t>{0});
  EXPECT_EQ(changed(task, {VariedPart::kLast, 3}), std::vector<std::size_t>{6399});
  auto one = changed(task, {VariedPart::kOne, 3}), other = changed(task, {VariedPart::kOne, 4});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_NE(one, other);
}

TEST(Variation, LeavesAPrefixASuffixAStrideOrPages) {
  BoundTask task = task_of(1);
  auto prefix = changed(task, {VariedPart::kAllButPrefix, 5});
  ASSERT_FALSE(prefix.empty());
  EXPECT_GT(prefix.front(), 0u);
  EXPECT_EQ(prefix.back(), 6399u);
  EXPECT_EQ(prefix.size(), 6400 - prefix.front());
  auto suffix = changed(task, {VariedPart::kAllButSuffix, 5});
  EXPECT_EQ(suffix.front(), 0u);
  EXPECT_LT(suffix.back(), 6399u);
  EXPECT_FALSE(std::ranges::count(changed(task, {VariedPart::kAllButStride, 5}), 64u));
  auto pages = changed(task, {VariedPart::kAllButPages, 5});
  EXPECT_GT(pages.size(), 0u);
  EXPECT_LT(pages.size(), 6400u);
  EXPECT_EQ(changed(task, {VariedPart::kAll, 5}).size(), 6400u);
}

TEST(Variation, EveryPrefixLengthComesUp) {
  BoundTask task = task_of(1);
  std::size_t shortest = 6400, longest = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::size_t kept = changed(task, {VariedPart::kAllButPrefix, seed}).front();
    shortest = std::min(shortest, kept), longest = std::max(longest, kept);
  }
  EXPECT_LT(shortest, 8u);
  EXPECT_GT(longest, 1600u);
}

TEST(Variation, SomeArgumentsStayWhole) {
  BoundTask task = task_of(3);
  std::vector<int> times(3);
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    int any = 0;
    for (std::size_t a = 0; a < 3; ++a)
      if (!changed(task, {VariedPart::kFew, seed}, a).empty()) ++times[a], ++any;
    EXPECT_GE(any, 1) << seed;
  }
  for (int count : times) {
    EXPECT_GT(count, 16);
    EXPECT_LT(count, 64);
  }
}

TEST(Variation, FarValuesOutweighASumOfMillions) {
  BoundTask task = task_of(1);
  auto after = values(task, 0, {VariedPart::kOne, 3, true});
  EXPECT_GT(std::ranges::max(after, {}, [](double v) { return std::abs(v); }), 10);
}

TEST(Variation, InitializersChangeTheirOrderOnly) {
  ConstantTensor table{DType::kFloat32, {64, 100}, std::vector<std::byte>(64 * 100 * 4), {}};
  auto* numbers = reinterpret_cast<float*>(table.data.data());
  for (int i = 0; i < 6400; ++i) numbers[i] = static_cast<float>(i + 1);
  BoundTask task = task_of(1, {.kind = Kind::kFixed});
  task.arguments[0].fixed = &table;
  EXPECT_GT(changed(task, {VariedPart::kAll, 1}).size(), 6000u);
  EXPECT_GE(std::ranges::min(values(task, 0, {VariedPart::kAll, 1})), 1);
  EXPECT_LE(std::ranges::max(values(task, 0, {VariedPart::kAll, 1})), 6400);

  // Wide integers are indices or shapes: no other order may be valid.
  ConstantTensor indices{DType::kInt64, {64, 100}, std::vector<std::byte>(64 * 100 * 8), {}};
  BoundTask whole = task_of(1, {.kind = Kind::kFixed}, DType::kInt64);
  for (int i = 0; i < 6400; ++i) reinterpret_cast<std::int64_t*>(indices.data.data())[i] = i;
  whole.arguments[0].fixed = &indices;
  EXPECT_TRUE(changed(whole, {VariedPart::kAll, 1}).empty());
}

}  // namespace
}  // namespace kforge

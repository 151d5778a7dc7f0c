#include "verify/fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace kforge {
namespace {

BoundTask one_output(std::int64_t elements) {
  BoundTask task;
  task.arguments = {{"y", "y", "", Role::kOutput, DType::kFloat32, {elements}, {}, 0}};
  return task;
}

class FingerprintTest : public testing::Test {
 protected:
  FingerprintTest()
      : task_(one_output(200'000)),
        positions_(task_, 5),
        outputs_(*TensorMemory::create(MemoryLayout::of(task_, 1), KFORGE_ARENA_OUTPUTS, false)) {
    fill(1.0f);
    expected_.outputs.resize(1);
    expected_.outputs[0].name = "y";
  }

  void fill(float value) {
    auto data = outputs_.tensor(0, 0);
    for (std::size_t i = 0; i < data.size(); i += 4) std::memcpy(data.data() + i, &value, 4);
  }
  void set(std::size_t element, float value) {
    std::memcpy(outputs_.tensor(0, 0).data() + 4 * element, &value, 4);
  }
  Fingerprint take() { return fingerprint_of(positions_, outputs_, 0); }
  bool differ(const Fingerprint& a, const Fingerprint& b) {
    return fingerprints_differ(positions_, task_, a, b, *policy_from_name("fp32"), expected_).has_value();
  }

  BoundTask task_;
  SamplePositions positions_;
  TensorMemory outputs_;
  Expected expected_;
};

TEST_F(FingerprintTest, EqualOutputsAgree) { EXPECT_FALSE(differ(take(), take())); }

TEST_F(FingerprintTest, RoundingOfAnotherSummationOrderAgrees) {
  auto before = take();
  fill(1.000002f);
  EXPECT_FALSE(differ(before, take()));
}

// A skipped tile of a thousandth of the output does not escape the strata.
TEST_F(FingerprintTest, ASmallUntouchedRegionIsSeen) {
  auto before = take();
  for (std::size_t i = 60'000; i < 60'200; ++i) set(i, 0);
  EXPECT_TRUE(differ(before, take()));
}

TEST_F(FingerprintTest, NotANumberEqualsItselfOnly) {
  fill(std::nanf(""));
  auto nans = take();
  EXPECT_FALSE(differ(nans, take()));
  fill(1);
  EXPECT_TRUE(differ(nans, take()));
}

// What lies far from zero is judged by how far its values are apart, not by their size.
TEST_F(FingerprintTest, LowPrecisionFarFromZeroIsSeen) {
  for (std::size_t i = 0; i < 200'000; ++i) set(i, 1000 + static_cast<float>(i % 7));
  expected_.outputs[0].rms = 1003, expected_.outputs[0].mean = 1003, expected_.outputs[0].deviation = 2;
  auto before = take();
  for (std::size_t i = 0; i < 200'000; ++i) set(i, 1000 + static_cast<float>(i % 7) + 0.004f);
  EXPECT_TRUE(differ(before, take()));
  for (std::size_t i = 0; i < 200'000; ++i) set(i, 1000 + static_cast<float>(i % 7) + 0.0002f);
  EXPECT_FALSE(differ(before, take()));
}

// An order of sums that changes from call to call rounds to the one neighbour or the other.
TEST(Fingerprint, NeighboursAmongNarrowNumbersAgree) {
  BoundTask task;
  task.arguments = {{"y", "y", "", Role::kOutput, DType::kBFloat16, {1000}, {}, 0}};
  const SamplePositions positions(task, 5);
  Expected expected;
  expected.outputs.resize(1);
  expected.outputs[0].name = "y";
  const Fingerprint timed(1000, 0.25390625), neighbour(1000, 0.251953125), further(1000, 0.2490234375);
  const PrecisionPolicy policy = *policy_from_name("fp32");
  EXPECT_FALSE(fingerprints_differ(positions, task, timed, neighbour, policy, expected));
  EXPECT_TRUE(fingerprints_differ(positions, task, timed, further, policy, expected));
}

// A few indices may differ between runs; which of them are as good the truth tells.
TEST(Fingerprint, IndicesAreJudgedByWhatTheyReach) {
  BoundTask task;
  task.arguments = {{"y", "y", "", Role::kOutput, DType::kInt64, {2}, {}, 0}};
  const SamplePositions positions(task, 5);
  Expected truth;
  truth.outputs.resize(1);
  truth.outputs[0] = {.name = "y", .dtype = DType::kInt64, .shape = {2}, .ints = {0, 1}};
  truth.outputs[0].index_source = IndexSource{{2, 3}, 1, {5, 5, 1, 0, 7, 7}, 0};
  const PrecisionPolicy policy = *policy_from_name("fp32");
  EXPECT_FALSE(indices_differ(positions, task, {0, 1}, {0, 1}, truth));
  EXPECT_TRUE(indices_differ(positions, task, {1, 1}, {0, 1}, truth));
  EXPECT_FALSE(wrong_index(positions, task, {1, 2}, policy, truth)) << "ties";
  EXPECT_TRUE(wrong_index(positions, task, {2, 1}, policy, truth));
  EXPECT_TRUE(wrong_index(positions, task, {7, 1}, policy, truth)) << "outside";
}

TEST(SamplePositions, AreDistinctSortedAndDependOnTheSeed) {
  BoundTask task = one_output(1'000'000);
  SamplePositions a(task, 1), b(task, 2);
  const auto& elements = a.outputs()[0].elements;
  EXPECT_EQ(std::set<std::int64_t>(elements.begin(), elements.end()).size(), elements.size());
  EXPECT_TRUE(std::is_sorted(elements.begin(), elements.end()));
  EXPECT_NE(elements, b.outputs()[0].elements);
}

}  // namespace
}  // namespace kforge

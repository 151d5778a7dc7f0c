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

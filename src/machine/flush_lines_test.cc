#include "machine/flush_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

namespace kforge {
namespace {

TEST(FlushLines, ValuesStay) {
  if (!can_flush_lines()) GTEST_SKIP() << "this processor has no clflushopt";
  std::vector<int> values(10'007);
  std::iota(values.begin(), values.end(), 5);
  const auto expected = values;
  flush_lines(std::as_bytes(std::span(values)));
  EXPECT_EQ(values, expected);
  flush_lines(std::as_bytes(std::span(values)).subspan(3, 1));  // neither whole nor aligned
  flush_lines({});
  EXPECT_EQ(values, expected);
}

// A walk through memory in which each load waits for the one before: several times slower from memory.
TEST(FlushLines, TheNextReadComesFromMemory) {
  if (!can_flush_lines()) GTEST_SKIP() << "this processor has no clflushopt";
  // One word in every second line, 32 KB: nothing is fetched beside it.
  constexpr std::size_t kLines = 256, kWords = 16;
  std::vector<std::size_t> next(kLines * kWords);
  for (std::size_t i = 0; i < kLines; ++i) next[i * kWords] = (i * 97 + 97) % kLines * kWords;
  auto walk = [&] {
    auto start = std::chrono::steady_clock::now();
    std::size_t at = 0;
    for (std::size_t i = 0; i < kLines; ++i) at = next[at];
    asm volatile("" : : "r"(at));
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  };
  double warm = 1e30, cold = 1e30;
  for (int i = 0; i < 20; ++i) warm = std::min(warm, walk());
  for (int i = 0; i < 20; ++i) {
    flush_lines(std::as_bytes(std::span(next)));
    cold = std::min(cold, walk());
  }
  EXPECT_GT(cold, 3 * warm);
}

}  // namespace
}  // namespace kforge

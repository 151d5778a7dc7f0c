#include "oracle/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include "oracle/interruption.h"

namespace kforge {
namespace {

TEST(ParallelFor, CoversEverythingOnceInFixedRanges) {
  for (const int threads : {1, 2, 8}) {
    std::vector<int> seen(1000);
    std::mutex mutex;
    std::set<std::pair<std::int64_t, std::int64_t>> ranges;
    parallel_for(threads, 1000, 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
      std::lock_guard lock(mutex);
      ranges.emplace(begin, end);
    });
    EXPECT_EQ(seen, std::vector<int>(1000, 1));
    EXPECT_EQ(ranges.size(), 16u);
    EXPECT_TRUE(ranges.contains({960, 1000}));
  }
}

TEST(ParallelFor, ThrowsWhatTheLowestRangeThrew) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      parallel_for(4, 100, 1, [](std::int64_t begin, std::int64_t) {
        if (begin % 10 == 7) throw std::runtime_error(std::to_string(begin));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
  }
}

// A large sum takes minutes; who interrupts it waits for one range of each thread.
TEST(ParallelFor, EndsBeforeTheNextRangeWhenAStopIsRequested) {
  constexpr int kRanges = 100'000;
  for (const int threads : {1, 4}) {
    std::stop_source source;
    const std::stop_token stop = source.get_token();
    std::atomic<int> ranges = 0;
    auto work = [&] {
      parallel_for(threads, kRanges, 1, [&](std::int64_t begin, std::int64_t) {
        ++ranges;
        if (begin == 3) source.request_stop();
      });
    };
    {
      Interruptible scope(stop);
      EXPECT_THROW(work(), Interrupted);
      EXPECT_LT(ranges, kRanges);
      if (threads == 1) {
        EXPECT_EQ(ranges, 4);
      }
      ranges = 0;
      EXPECT_THROW(work(), Interrupted);
      EXPECT_EQ(ranges, 0);
    }
    work();  // no longer
    EXPECT_EQ(ranges, kRanges);
  }
}

TEST(ParallelFor, NothingToDo) {
  parallel_for(4, 0, 10, [](std::int64_t, std::int64_t) { FAIL(); });
  parallel_for(4, -5, 10, [](std::int64_t, std::int64_t) { FAIL(); });
}

}  // namespace
}  // namespace kforge

#include "machine/features.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace kforge {
namespace {

TEST(Features, ATrialThatDiesHangsOrIsWrongMeansAbsent) {
  EXPECT_TRUE(survives([] { return true; }));
  EXPECT_FALSE(survives([] { return false; }));
  EXPECT_FALSE(survives([]() -> bool { __builtin_trap(); }));  // SIGILL
  EXPECT_FALSE(survives([] { return ::raise(SIGSEGV) == 0; }));
  EXPECT_FALSE(survives([] {
    for (;;) ::pause();
    return true;
  }));
}

// The compiler's own view of cpuid may know less than the trials (hidden leaves) but it never knows more.
TEST(Features, FindsWhatCpuidAnnounces) {
  std::set<std::string> found = find_features();
  if (__builtin_cpu_supports("avx2")) {
    EXPECT_TRUE(found.contains("avx2"));
  }
  if (__builtin_cpu_supports("fma")) {
    EXPECT_TRUE(found.contains("fma"));
  }
  if (__builtin_cpu_supports("bmi2")) {
    EXPECT_TRUE(found.contains("bmi2"));
  }
  if (__builtin_cpu_supports("avx512f")) {
    EXPECT_TRUE(found.contains("avx512f"));
  }
  if (__builtin_cpu_supports("avx512bf16")) {
    EXPECT_TRUE(found.contains("avx512_bf16"));
  }
  if (!__builtin_cpu_supports("avx512f")) {
    EXPECT_FALSE(found.contains("avx512f"));
  }
}

}  // namespace
}  // namespace kforge

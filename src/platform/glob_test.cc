#include "platform/glob.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(Glob, Patterns) {
  EXPECT_TRUE(glob_matches("GOMP_*", "GOMP_parallel"));
  EXPECT_TRUE(glob_matches("GOMP_*", "GOMP_"));
  EXPECT_FALSE(glob_matches("GOMP_*", "XGOMP_x"));
  EXPECT_TRUE(glob_matches("expf", "expf"));
  EXPECT_FALSE(glob_matches("expf", "expfx"));
  EXPECT_TRUE(glob_matches("*_finite", "__expf_finite"));
  EXPECT_TRUE(glob_matches("__*ti3", "__divti3"));
  EXPECT_TRUE(glob_matches("a*b*c", "aXbXbYc"));
  EXPECT_FALSE(glob_matches("a*b*c", "aXbXbY"));
  EXPECT_FALSE(glob_matches("", "x"));
  EXPECT_TRUE(glob_matches("*", ""));
}

TEST(Glob, HostilePatternsStayCheap) {
  std::string stars;
  for (int i = 0; i < 50; ++i) stars += "a*";
  EXPECT_FALSE(glob_matches(stars + "b", std::string(5000, 'a')));
}

TEST(Glob, ListsWithExceptions) {
  std::vector<std::string> patterns = {"pthread_*", "!pthread_kill", "exp"};
  EXPECT_TRUE(listed(patterns, "pthread_create"));
  EXPECT_FALSE(listed(patterns, "pthread_kill"));
  EXPECT_TRUE(listed(patterns, "exp"));
  EXPECT_FALSE(listed(patterns, "dlopen"));
}

}  // namespace
}  // namespace kforge

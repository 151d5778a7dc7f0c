#include "report/progress.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

// Standard error of a test is no terminal: make_progress gives plain lines here.
TEST(Progress, QuickWorkSaysNothing) {
  testing::internal::CaptureStderr();
  auto progress = make_progress(false, 60);
  progress->stage("compiling");
  progress->advance(0.5, "half");
  progress->finish();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, LongWorkSaysEachStageOnce) {
  testing::internal::CaptureStderr();
  auto progress = make_progress(false, 0);
  progress->stage("compiling");
  progress->advance(0.1, "a");
  progress->advance(0.2, "b");
  progress->stage("timing");
  progress->finish();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "  compiling\n  timing\n");
}

TEST(Progress, QuietSaysNothing) {
  testing::internal::CaptureStderr();
  auto progress = make_progress(true, 0);
  progress->stage("compiling");
  progress->finish();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace kforge

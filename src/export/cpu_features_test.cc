#include "export/parts/native/cpu_features.h"

#include <gtest/gtest.h>

#include "machine/features.h"

namespace kforge {
namespace {

// What was seen to work must be found by asking: a kernel judged here must not be refused here. (AMX also
// needs the system's leave, which plan.cc asks for.)
TEST(CpuFeatures, SayWhatTrialsFound) {
  for (const std::string& feature : find_features())
    EXPECT_TRUE(kforge_export::has(feature.c_str())) << feature;
  EXPECT_FALSE(kforge_export::has("avx9000"));
  const char* needs[] = {"avx9000", nullptr};
  EXPECT_STREQ(kforge_export::first_missing(needs), "avx9000");
  EXPECT_EQ(kforge_export::first_missing(needs + 1), nullptr);
}

}  // namespace
}  // namespace kforge

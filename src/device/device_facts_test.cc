#include "device/device_facts.h"

#include <gmock/gmock.h>

namespace kforge {
namespace {

TEST(DeviceFactsText, IsReadBackAsItWasWritten) {
  DeviceFacts facts{"opencl", "A \"device\"", "OpenCL 3.0", "1.2", "gpu", 8,    1024, 65536, 1 << 30, 1 << 28,
                    128,      {16, 32},       true,         false, false, true, 1.5};
  auto read = facts_from_json(to_json(facts));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(facts));
  EXPECT_FALSE(read->this_processor());
  EXPECT_THAT(read->text(), testing::HasSubstr("sub-groups of 16 32"));
  EXPECT_FALSE(facts_from_json("{\"api\": 3}"));
  EXPECT_FALSE(facts_from_json("no JSON"));
}

}  // namespace
}  // namespace kforge

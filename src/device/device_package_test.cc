#include "device/device_package.h"

#include <gmock/gmock.h>

namespace kforge {
namespace {

TEST(DevicePackages, AreReadBackAsTheyWereWritten) {
  DevicePackage package;
  package.api = "opencl";
  package.files = {{"kernel.cl", "kernel void k() {} // \xff"}, {"more.h", ""}};
  package.macros = {{"B", 16}, {"N", -3}};
  package.plan = "{\"run\": []}";
  package.setting.tensors = {{"x", DType::kFloat16, 32, true, false}, {"y", DType::kInt64, 8, false, true}};
  package.setting.dimensions = {{"B", 16}};
  package.setting.most_threads = 77;
  package.binaries[""] = std::string("\0\x01\xfe", 3);
  auto read = package_from(to_bytes(package));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_bytes(*read), to_bytes(package));
  EXPECT_EQ(read->binaries[""], package.binaries[""]);
  EXPECT_EQ(read->setting.tensors[0].dtype, DType::kFloat16);
  EXPECT_EQ(read->prelude(), "#define B 16\n#define N -3\n#line 1 \"kernel.cl\"\n");
}

TEST(DevicePackages, WhatIsNoneIsAnError) {
  EXPECT_FALSE(package_from(""));
  EXPECT_FALSE(package_from("{}"));
  EXPECT_FALSE(package_from(std::string(100, '\xff')));
}

}  // namespace
}  // namespace kforge

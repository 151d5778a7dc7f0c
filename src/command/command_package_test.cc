#include "command/command_package.h"

#include <gmock/gmock.h>

namespace kforge {
namespace {

CommandPackage sample() {
  CommandPackage package;
  package.argv = {"/usr/bin/python3", "${platform}/runner.py", "${program}"};
  package.files = {{"platform/runner.py", "print(1) # \xff", true}, {"program/kernel.py", "", false}};
  package.program = "program/kernel.py";
  package.tensors = {{"x", DType::kFloat16, {2, 3}, true, true, false},
                     {"y", DType::kInt64, {}, false, false, true}};
  package.symbols = {{"B", 16}};
  return package;
}

TEST(CommandPackages, AreReadBackAsTheyWereWritten) {
  auto read = command_package_from(to_bytes(sample()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_bytes(*read), to_bytes(sample()));
  EXPECT_FALSE(command_package_from("no package"));
}

TEST(CommandPackages, FilesCannotClimbOutOfTheirFolder) {
  for (const char* path : {"../kernel.py", "program/../../x", "/etc/passwd", "program/", "other/x"}) {
    CommandPackage package = sample();
    package.files[0].path = path;
    EXPECT_FALSE(command_package_from(to_bytes(package))) << path;
  }
}

}  // namespace
}  // namespace kforge

#include "platform/programs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"

namespace kforge {
namespace {

TEST(Programs, AreFoundBelowUsrOnly) {
  EXPECT_TRUE(find_program("g++"));
  EXPECT_TRUE(find_program("/usr/bin/g++"));
  EXPECT_FALSE(find_program("kforge-no-such-compiler"));
  EXPECT_FALSE(find_program("../../tmp"));
  EXPECT_FALSE(find_program(""));
  EXPECT_FALSE(find_program("/usr/bin"));
}

TEST(Programs, AreFoundInTheFoldersThatThePlatformNames) {
  TempDir folder = TempDir::create().value(), beside = TempDir::create().value();
  fs::create_directory(folder.path() / "bin");
  fs::path program = folder.path() / "bin/vendor-cc";
  std::ofstream(program) << "#!/bin/sh\n";
  EXPECT_FALSE(find_program("vendor-cc", {folder.path()})) << "it cannot be executed";
  fs::permissions(program, fs::perms(0755));
  EXPECT_EQ(find_program("vendor-cc", {folder.path()}), program);
  EXPECT_EQ(find_program(program.string(), {folder.path()}), program);
  EXPECT_FALSE(find_program(program.string(), {beside.path()}));
  EXPECT_FALSE(find_program("vendor-cc"));
  // A link out of the folder leads where the sandbox does not.
  fs::create_symlink(program, beside.path() / "vendor-cc");
  EXPECT_FALSE(find_program("vendor-cc", {beside.path()}));
}

}  // namespace
}  // namespace kforge

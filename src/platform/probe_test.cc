#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"
#include "platform/platform.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using State = Readiness::State;

class Probe : public testing::Test {
 protected:
  Probe() { platform_.probe.remedy = "install it"; }
  Platform platform_;
};

TEST_F(Probe, SaysWhatIsMissingAndWhatToDo) {
  platform_.probe.argv = {"kforge-no-such-compiler", "--version"};
  Readiness readiness = probe_platform(platform_);
  EXPECT_EQ(readiness.state, State::kMissing);
  EXPECT_THAT(readiness.reason, HasSubstr("kforge-no-such-compiler"));
  EXPECT_EQ(readiness.remedy, "install it");
  platform_.probe.argv = {"sh", "-c", "echo driver too old >&2; exit 3"};
  EXPECT_THAT(probe_platform(platform_).reason, HasSubstr("driver too old"));
  platform_.probe.argv = {};
  platform_.probe.library = "libkforge-no-such.so.1";
  EXPECT_THAT(probe_platform(platform_).reason, HasSubstr("libkforge-no-such.so.1"));
  platform_.probe.library = "";
  platform_.sandbox.devices = {"/dev/kforge-no-such-device"};
  EXPECT_THAT(probe_platform(platform_).reason, HasSubstr("/dev/kforge-no-such-device"));
  platform_.sandbox.devices = {};
  platform_.build.compilers = {{"kforge-no-such-compiler", {}, {}}};
  EXPECT_THAT(probe_platform(platform_).reason, HasSubstr("no compiler kforge-no-such-compiler"));
}

TEST_F(Probe, AsksInsideTheSandbox) {
  TempDir hidden = TempDir::create(0755).value();
  std::ofstream(hidden.path() / "driver") << "works\n";
  platform_.probe.argv = {"cat", (hidden.path() / "driver").string()};
  EXPECT_EQ(probe_platform(platform_).state, State::kMissing) << "a program could not read this file";
  platform_.sandbox.read = {hidden.path()};
  Readiness readiness = probe_platform(platform_);
  EXPECT_EQ(readiness.state, State::kReady) << readiness.reason;
  EXPECT_EQ(readiness.reason, "works");
}

TEST_F(Probe, AProgramOutsideUsrWorksWhenItsFolderIsNamed) {
  TempDir tools = TempDir::create(0755).value();
  fs::create_directory(tools.path() / "bin");
  fs::path tool = tools.path() / "bin/vendor-cc";
  std::ofstream(tool) << "#!/bin/sh\necho vendor-cc 4.2 for $BOARD\n";
  fs::permissions(tool, fs::perms(0755));
  platform_.probe.argv = {"vendor-cc", "--version"};
  EXPECT_THAT(probe_platform(platform_).reason, HasSubstr("'sandbox.read'"));
  platform_.sandbox.read = {tools.path()};
  platform_.sandbox.env["BOARD"] = "npu";
  EXPECT_EQ(probe_platform(platform_).reason, "vendor-cc 4.2 for npu");
}

TEST_F(Probe, AnotherMachineIsEmulatedOrMissing) {
  platform_.run.machine = "pdp11";
  EXPECT_THAT(probe_platform(platform_).reason, HasSubstr("names no emulator"));
  platform_.run.prefix = {"kforge-no-such-emulator"};
  EXPECT_EQ(probe_platform(platform_).state, State::kMissing);
  platform_.run.prefix = {"cat"};
  Readiness readiness = probe_platform(platform_);
  EXPECT_EQ(readiness.state, State::kEmulated) << readiness.reason;
  EXPECT_THAT(readiness.reason, HasSubstr("cat"));
}

}  // namespace
}  // namespace kforge

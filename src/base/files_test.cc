#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

namespace kforge {
namespace {

int mode_of(const fs::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<int>(info.st_mode & 07777) : -1;
}

class FilesTest : public testing::Test {
 protected:
  TempDir dir_ = TempDir::create().value();
  fs::path path(const char* name) const { return dir_.path() / name; }
};

TEST_F(FilesTest, WritesAndReadsBackAnyBytes) {
  std::string content("a\0b\xff\n", 5);
  ASSERT_TRUE(write_file_atomic(path("x"), content, 0600));
  EXPECT_EQ(read_file(path("x")).value(), content);
  EXPECT_EQ(mode_of(path("x")), 0600);
  ASSERT_TRUE(write_file_atomic(path("x"), "new"));
  EXPECT_EQ(read_file(path("x")).value(), "new");
}

TEST_F(FilesTest, NothingIsLeftBesideAFileWhoseRenameFailed) {
  fs::create_directories(path("folder"));
  EXPECT_FALSE(write_file_atomic(path("folder"), "x"));
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), fs::directory_iterator()), 1);
}

TEST_F(FilesTest, RefusesWhatIsTooLargeMissingOrAFolder) {
  ASSERT_TRUE(write_file_atomic(path("x"), "12345"));
  EXPECT_TRUE(read_file(path("x"), 5));
  auto large = read_file(path("x"), 4);
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().message.find("larger than the limit of 4 bytes"), std::string::npos);
  EXPECT_FALSE(read_file(path("missing")));
  EXPECT_FALSE(read_file(dir_.path()));
}

TEST_F(FilesTest, EndlessFilesStopAtTheLimit) { EXPECT_FALSE(read_file("/dev/zero", 1 << 20)); }

TEST(TempDir, GoesWithItsContent) {
  fs::path place;
  {
    TempDir dir = TempDir::create(0755).value();
    place = dir.path();
    EXPECT_EQ(mode_of(place), 0755);
    std::ofstream(place / "x") << "y";
    TempDir moved = std::move(dir);
    EXPECT_TRUE(fs::exists(moved.path() / "x"));
  }
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(FilesTest, HomeIsMadePrivate) {
  ::setenv("KFORGE_HOME", path("home").c_str(), 1);
  auto home = kforge_home();
  ::unsetenv("KFORGE_HOME");
  ASSERT_TRUE(home);
  EXPECT_EQ(*home, path("home"));
  EXPECT_EQ(mode_of(*home), 0700);
}

TEST_F(FilesTest, DataRootCanBeNamed) {
  ::setenv("KFORGE_DATA", dir_.path().c_str(), 1);
  auto root = data_root();
  ::unsetenv("KFORGE_DATA");
  ASSERT_TRUE(root);
  EXPECT_EQ(*root, dir_.path());
}

TEST(HelperProgram, AMissingOneIsNamed) {
  auto helper = helper_program("kforge-no-such-helper");
  ASSERT_FALSE(helper);
  EXPECT_NE(helper.error().message.find("kforge-no-such-helper"), std::string::npos);
  EXPECT_FALSE(helper.error().remedy.empty());
}

TEST(TempDir, LiveOnesCanBeRemovedAtOnce) {
  auto one = TempDir::create();
  auto two = TempDir::create();
  ASSERT_TRUE(one && two);
  TempDir moved = std::move(*one);
  remove_live_temp_dirs();
  EXPECT_FALSE(fs::exists(moved.path()));
  EXPECT_FALSE(fs::exists(two->path()));
}

}  // namespace
}  // namespace kforge

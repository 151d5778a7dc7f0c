#include "base/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

void make_old(const fs::path& path) {
  timespec long_ago[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), long_ago, 0), 0);
}

TEST(TempDir, OfAKilledProcessIsRemovedByTheNextAndOneInUseIsNot) {
  int name[2];
  ASSERT_EQ(::pipe(name), 0);
  pid_t child = ::fork();
  if (child == 0) {
    TempDir mine = TempDir::create().value();
    std::string path = mine.path().string() + "\n";
    (void)!::write(name[1], path.data(), path.size());
    for (;;) ::pause();
  }
  std::string left;
  for (char c; ::read(name[0], &c, 1) == 1 && c != '\n';) left += c;
  std::ofstream(fs::path(left) / "x") << "y";
  make_old(left);
  remove_abandoned_temp_dirs();
  EXPECT_TRUE(fs::exists(left)) << "its process is alive";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  remove_abandoned_temp_dirs();
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(FilesTest, ALockIsHeldOnceAndEndsWithItsHolder) {
  EXPECT_FALSE(FileLock::held(path("lock")));
  {
    auto first = FileLock::take(path("lock")).value();
    ASSERT_TRUE(first);
    EXPECT_FALSE(FileLock::take(path("lock")).value());
    EXPECT_TRUE(FileLock::held(path("lock")));
  }
  EXPECT_FALSE(FileLock::held(path("lock")));
  EXPECT_TRUE(FileLock::take(path("lock")).value());
  EXPECT_FALSE(FileLock::take(path("no/such/folder"))) << "a lock that cannot be made is an error";
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

TEST_F(FilesTest, ADataRootThatIsNotThereIsSaid) {
  ::setenv("KFORGE_DATA", path("nowhere").c_str(), 1);
  auto root = data_root();
  ::unsetenv("KFORGE_DATA");
  ASSERT_FALSE(root);
  EXPECT_NE(root.error().message.find("KFORGE_DATA: there is no folder"), std::string::npos);
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

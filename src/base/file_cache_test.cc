#include "base/file_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/hash.h"

namespace kforge {
namespace {

std::string key_of(int i) { return sha256_hex(std::to_string(i)); }

class FileCacheTest : public testing::Test {
 protected:
  TempDir dir_ = TempDir::create().value();
  FileCache cache_{dir_.path() / "cache", 0};

  std::size_t total_bytes() const {
    std::size_t total = 0;
    for (const auto& entry : fs::recursive_directory_iterator(dir_.path()))
      if (entry.is_regular_file()) total += entry.file_size();
    return total;
  }
  static void age(const fs::path& path, int hours) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }
};

TEST_F(FileCacheTest, StoresPlainContentAndFindsIt) {
  EXPECT_FALSE(cache_.find(key_of(1)));
  EXPECT_FALSE(cache_.load(key_of(1)));
  auto stored = cache_.store(key_of(1), "content");
  ASSERT_TRUE(stored);
  EXPECT_EQ(cache_.find(key_of(1)), *stored);
  EXPECT_EQ(read_file(*stored).value(), "content");
  EXPECT_EQ(cache_.load(key_of(1)), "content");
  EXPECT_FALSE(cache_.find(key_of(2)));
}

TEST_F(FileCacheTest, ANewValueOfAKeyReplacesTheOld) {
  ASSERT_TRUE(cache_.store(key_of(1), "old"));
  ASSERT_TRUE(cache_.store(key_of(1), "new"));
  EXPECT_EQ(cache_.load(key_of(1)), "new");
}

// Two processes may compile the same program to different bytes: who was handed the first value still copies
// it.
TEST_F(FileCacheTest, AValueThatMayBeInUseStaysBesideANewerOne) {
  const fs::path first = cache_.store(key_of(1), "old").value();
  ASSERT_TRUE(cache_.store(key_of(1), "new"));
  EXPECT_EQ(read_file(first).value_or(""), "old");
  age(first, 1);
  ASSERT_TRUE(cache_.store(key_of(1), "newer"));
  EXPECT_FALSE(fs::exists(first));
  EXPECT_EQ(cache_.load(key_of(1)), "newer");
}

TEST_F(FileCacheTest, ADamagedEntryIsAbsentAndRemoved) {
  auto stored = cache_.store(key_of(1), "content");
  ASSERT_TRUE(stored);
  std::ofstream(*stored) << "c0ntent";
  EXPECT_FALSE(cache_.load(key_of(1)));
  EXPECT_FALSE(fs::exists(*stored));
  fs::resize_file(cache_.store(key_of(1), "content").value(), 0);
  EXPECT_FALSE(cache_.load(key_of(1)));
}

TEST_F(FileCacheTest, AnUnusableFolderIsAnErrorNotACrash) {
  std::ofstream(dir_.path() / "cache") << "a file where the folder should be";
  EXPECT_FALSE(cache_.find(key_of(1)));
  EXPECT_FALSE(cache_.store(key_of(1), "x"));
}

TEST_F(FileCacheTest, TheLeastRecentlyUsedGoFirst) {
  FileCache small(dir_.path() / "small", 1000);
  std::string content(100, 'x');
  for (int i = 0; i < 10; ++i) age(small.store(key_of(i), content).value(), 20 - i);
  ASSERT_TRUE(small.find(key_of(0)));  // refreshed: no longer the oldest
  ASSERT_TRUE(small.store(key_of(10), content));
  EXPECT_TRUE(small.find(key_of(0)));
  EXPECT_FALSE(small.find(key_of(1)));
  EXPECT_TRUE(small.find(key_of(10)));
  EXPECT_LE(total_bytes(), 1000u);
}

TEST_F(FileCacheTest, TheSizeStaysBoundedOverManySmallStores) {
  FileCache small(dir_.path() / "small", 10'000);
  for (int i = 0; i < 600; ++i) ASSERT_TRUE(small.store(key_of(i), std::to_string(i) + std::string(97, 'x')));
  EXPECT_LT(total_bytes(), 20'000u);
}

TEST_F(FileCacheTest, AnEntryAboveTheLimitIsStillUsable) {
  FileCache small(dir_.path() / "small", 10);
  ASSERT_TRUE(small.store(key_of(1), "12345"));
  ASSERT_TRUE(small.store(key_of(2), std::string(100, 'x')));
  EXPECT_EQ(small.load(key_of(2)), std::string(100, 'x'));
  EXPECT_FALSE(small.find(key_of(1)));
}

TEST_F(FileCacheTest, LeftoversOfDeadWritersGoAndAreNeverFound) {
  auto stored = cache_.store(key_of(1), "content");
  ASSERT_TRUE(stored);
  fs::path old_temporary = stored->string() + ".tmp-aaaaaa", new_temporary = stored->string() + ".tmp-bbbbbb";
  std::ofstream(old_temporary) << "con";
  std::ofstream(new_temporary) << "con";
  age(old_temporary, 2);
  fs::remove(*stored);
  EXPECT_FALSE(cache_.find(key_of(1)));
  cache_.evict();
  EXPECT_FALSE(fs::exists(old_temporary));
  EXPECT_TRUE(fs::exists(new_temporary));
}

// Writers, readers and evictions of several processes at once: a reader sees whole entries only.
TEST_F(FileCacheTest, SeveralProcessesAtOnce) {
  fs::path folder = dir_.path() / "shared";
  auto content_of = [](int i) { return std::string(2000 + i, static_cast<char>('a' + i % 26)); };
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      FileCache cache(folder, 20'000);
      bool good = true;
      for (int round = 0; round < 150; ++round) {
        int i = (round * 7 + child * 3) % 20;
        if (auto content = cache.load(key_of(i))) good = good && *content == content_of(i);
        good = good && cache.store(key_of(i), content_of(i)).has_value();
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace kforge

// A cache is only a memory of work: whatever happens to its files, verdicts stay the same and nothing
// crashes.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault/fault_setting.h"

namespace kforge {
namespace {

class CacheFault : public testing::Test {
 protected:
  void SetUp() override {
    if (auto tier = strongest_tier(); !tier) GTEST_SKIP() << tier.error().text();
    auto folder = TempDir::create();
    ASSERT_TRUE(folder);
    folder_ = std::move(*folder);
    ::setenv("KFORGE_HOME", folder_.path().c_str(), 1);
    expect_works();
  }
  // Every regular file of the home but the store.
  std::vector<fs::path> cached_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      if (entry.is_regular_file() && !entry.path().filename().string().starts_with("store.db"))
        files.push_back(entry.path());
    return files;
  }
  TempDir folder_;
};

TEST_F(CacheFault, FilesCutInHalf) {
  ASSERT_FALSE(cached_files().empty());
  for (const fs::path& file : cached_files()) fs::resize_file(file, fs::file_size(file) / 2);
  expect_works();
}

TEST_F(CacheFault, BytesFlipped) {
  for (const fs::path& file : cached_files()) {
    auto text = read_file(file);
    ASSERT_TRUE(text);
    for (std::size_t at = text->size() / 3; at < text->size(); at += 97)
      (*text)[at] = static_cast<char>((*text)[at] ^ 0x55);
    ASSERT_TRUE(write_file_atomic(file, *text));
  }
  expect_works();
}

TEST_F(CacheFault, FilesEmptied) {
  for (const fs::path& file : cached_files()) fs::resize_file(file, 0);
  expect_works();
}

TEST_F(CacheFault, FilesUnreadable) {
  // Root reads everything, whatever the mode: a folder in the place of a file stops root too.
  for (const fs::path& file : cached_files()) {
    fs::remove(file);
    fs::create_directory(file);
  }
  expect_works();
}

TEST_F(CacheFault, FoldersGone) {
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    if (entry.is_directory()) fs::remove_all(entry.path());
  expect_works();
}

// A store that is no database is the machinery's failure: said, with a remedy, and the file is left as it
// was.
TEST_F(CacheFault, StoreIsNotADatabase) {
  ASSERT_TRUE(fs::exists(folder_.path() / "store.db"));
  for (const char* name : {"store.db-wal", "store.db-shm"}) fs::remove(folder_.path() / name);
  std::string garbage(8192, '#');
  ASSERT_TRUE(write_file_atomic(folder_.path() / "store.db", garbage));
  auto report = evaluate_quietly(check_of("core/relu", kHonest / "relu_loops.cc"));
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().text(), testing::HasSubstr("store.db"));
  EXPECT_EQ(*read_file(folder_.path() / "store.db"), garbage);
}

}  // namespace
}  // namespace kforge

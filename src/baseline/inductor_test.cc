#include "baseline/inductor.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace kforge {
namespace {

fs::perms mode_of(const fs::path& path) { return fs::status(path).permissions() & fs::perms(0777); }

TEST(Inductor, EveryNumberOfThreadsHasAFolderThatAllMayWriteAndThatBeginsWithTheSeed) {
  auto work = TempDir::create(0755), seed = TempDir::create();
  fs::create_directories(seed->path() / "ab");
  ASSERT_TRUE(write_file_atomic(seed->path() / "ab" / "trial.so", "tried", 0600));
  const int threads[] = {1, 4};
  auto folder = make_inductor_folder(work->path(), threads, seed->path());
  ASSERT_TRUE(folder) << folder.error().message;
  EXPECT_EQ(mode_of(*folder), fs::perms(0755));
  for (const char* count : {"1", "4"}) {
    EXPECT_EQ(mode_of(*folder / count), fs::perms(0777));
    EXPECT_EQ(mode_of(*folder / count / "ab"), fs::perms(0777));
    EXPECT_EQ(mode_of(*folder / count / "ab" / "trial.so"), fs::perms(0666));
    EXPECT_EQ(*read_file(*folder / count / "ab" / "trial.so"), "tried");
  }
  // What a process has compiled stays.
  ASSERT_TRUE(write_file_atomic(*folder / "1" / "made.so", "compiled"));
  ASSERT_TRUE(make_inductor_folder(work->path(), threads, seed->path()));
  EXPECT_TRUE(fs::exists(*folder / "1" / "made.so"));
}

TEST(Inductor, ASeedIsMadeOnceAndAFailureIsNone) {
  auto folder = TempDir::create();
  const fs::path python = folder->path() / "python3", cache = folder->path() / "cache";
  auto answers = [&](const char* script) { return write_file_atomic(python, script, 0755).has_value(); };
  const PythonFacts facts{python, {{"torch", "2.9.1"}}, {}, {}};
  ASSERT_TRUE(answers("#!/bin/sh\nexit 1\n"));
  EXPECT_EQ(inductor_seed(facts, cache), fs::path());
  ASSERT_TRUE(answers("#!/bin/sh\necho x >> $TORCHINDUCTOR_CACHE_DIR/trial\n"));
  const fs::path seed = inductor_seed(facts, cache);
  EXPECT_EQ(read_file(seed / "trial").value_or(""), "x\n");
  ASSERT_TRUE(answers("#!/bin/sh\nexit 1\n"));
  EXPECT_EQ(inductor_seed(facts, cache), seed);
}

}  // namespace
}  // namespace kforge

#include "base/lock_holder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/files.h"

namespace kforge {
namespace {

class LockHolderTest : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  fs::path file_ = folder_.path() / "lock";
  pid_t child_ = 0;
  int said_[2] = {};

  // A process that takes the lock, notes itself and waits for its end.
  void hold(bool notes) {
    ASSERT_EQ(::pipe(said_), 0);
    child_ = ::fork();
    if (child_ == 0) {
      auto lock = FileLock::take(file_);
      if (!lock || !*lock) ::_exit(9);
      if (notes) note_lock_holder(file_);
      (void)!::write(said_[1], "x", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(said_[0], &byte, 1), 1);
  }
  void TearDown() override {
    if (child_ > 0) end(SIGKILL);
    for (int fd : said_)
      if (fd > 0) ::close(fd);
  }
  int end(int signal = 0) {
    int status = 0;
    if (signal) ::kill(child_, signal);
    ::waitpid(child_, &status, 0);
    child_ = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
};

TEST_F(LockHolderTest, WhoHoldsTheLockIsInterrupted) {
  hold(true);
  EXPECT_TRUE(knows_lock_holder(file_));
  auto done = interrupt_lock_holder(file_);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(end(), SIGINT);
  EXPECT_FALSE(knows_lock_holder(file_)) << "it is gone, and its lock with it";
  EXPECT_FALSE(interrupt_lock_holder(file_));
}

TEST_F(LockHolderTest, AHolderThatDidNotNoteItselfIsLeftAlone) {
  hold(false);
  EXPECT_FALSE(knows_lock_holder(file_));
  EXPECT_FALSE(interrupt_lock_holder(file_));
  EXPECT_EQ(end(SIGTERM), SIGTERM) << "it was alive";
}

TEST_F(LockHolderTest, AnotherProcessWithThatNumberIsLeftAlone) {
  hold(true);
  for (const std::string& noted : {fmt::format("{} 1\n", child_), fmt::format("{} x\n", child_),
                                   std::string("1 0\n"), std::string("-1 0\n"), std::string("")}) {
    ASSERT_TRUE(FileLock::held(file_));
    Fd fd(::open(file_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    ASSERT_EQ(::write(fd.get(), noted.data(), noted.size()), static_cast<ssize_t>(noted.size()));
    EXPECT_FALSE(knows_lock_holder(file_)) << noted;
    EXPECT_FALSE(interrupt_lock_holder(file_)) << noted;
  }
  EXPECT_EQ(end(SIGTERM), SIGTERM) << "it was alive";
}

TEST_F(LockHolderTest, ANoteWithoutTheLockIsNothing) {
  hold(true);
  const std::string noted = *read_file(file_);
  end(SIGKILL);
  EXPECT_EQ(*read_file(file_), noted);
  EXPECT_FALSE(knows_lock_holder(file_));
}

}  // namespace
}  // namespace kforge

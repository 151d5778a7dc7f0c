// A full disk: the evaluation says so (or manages without), what was stored before stays readable, and
// everything works again once there is room. As root on a small tmpfs; otherwise by a limit on the size of
// files.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "fault/fault_setting.h"

namespace kforge {
namespace {

// Evaluates in a child and gives its exit code: 0 passed, 1 another outcome, 2 an Error (its text in
// `message`), negative: the signal that ended it.
int evaluate_in_child(const fs::path& kernel, bool limit_files, std::string& message) {
  int pipes[2];
  if (::pipe(pipes) != 0) return -1;
  pid_t child = ::fork();
  if (child == 0) {
    if (limit_files) {
      ::signal(SIGXFSZ, SIG_IGN);
      rlimit none{4096, 4096};
      ::setrlimit(RLIMIT_FSIZE, &none);
    }
    auto report = evaluate_quietly(check_of("core/relu", kernel));
    std::string text = report ? report->reason : report.error().text();
    if (::write(pipes[1], text.data(), std::min<std::size_t>(text.size(), 4000)) < 0) ::_exit(3);
    ::_exit(!report ? 2 : report->passed() ? 0 : 1);
  }
  ::close(pipes[1]);
  char buffer[4096];
  for (ssize_t n; (n = ::read(pipes[0], buffer, sizeof buffer)) > 0;)
    message.append(buffer, static_cast<std::size_t>(n));
  ::close(pipes[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (auto tier = strongest_tier(); !tier) GTEST_SKIP() << tier.error().text();
    auto folder = TempDir::create();
    ASSERT_TRUE(folder);
    folder_ = std::move(*folder);
    home_ = folder_.path() / "home";
    fs::create_directory(home_);
    mounted_ = ::geteuid() == 0 && ::mount("tmpfs", home_.c_str(), "tmpfs", 0, "size=512m") == 0;
    ::setenv("KFORGE_HOME", home_.c_str(), 1);
    kernel_ = folder_.path() / "kernel.cc";
    ASSERT_TRUE(
        write_file_atomic(kernel_, *read_file(kHonest / "relu_loops.cc") + "// not compiled before\n"));
  }
  void TearDown() override {
    if (mounted_) ::umount2(home_.c_str(), MNT_DETACH);
  }
  TempDir folder_;
  fs::path home_, kernel_;
  bool mounted_ = false;
};

TEST_F(FullDisk, NothingIsLostAndTheNextOneWorks) {
  expect_works();
  expect_whole_store(home_);
  auto stored = Store::open(home_);
  ASSERT_TRUE(stored);

  fs::path filler = home_ / "filler";
  if (mounted_) {
    std::ofstream out(filler, std::ios::binary);
    std::string block(1 << 20, 'f');
    while (out.write(block.data(), static_cast<std::streamsize>(block.size())) && out.flush()) {
    }
    out.clear();
    while (out.put('f') && out.flush()) {
    }
  }
  std::string message;
  int code = evaluate_in_child(kernel_, !mounted_, message);
  EXPECT_GE(code, 0) << "ended by signal " << -code;
  EXPECT_NE(code, 1) << "the disk's fault was laid on the kernel: " << message;
  if (code == 2) {
    EXPECT_THAT(message, testing::AnyOf(testing::HasSubstr("space"), testing::HasSubstr("full"),
                                        testing::HasSubstr("too large")));
  }

  fs::remove(filler);
  expect_whole_store(home_);
  auto report = evaluate_quietly(check_of("core/relu", kernel_));
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->outcome, Outcome::kPassed) << report->reason;
}

}  // namespace
}  // namespace kforge

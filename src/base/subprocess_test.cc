#include "base/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace kforge {
namespace {

using std::chrono::milliseconds;

Command shell(std::string script) { return {.argv = {"sh", "-c", std::move(script)}}; }

TEST(Subprocess, CapturesBothStreamsAndTheExitCode) {
  auto finished = run_command(shell("echo out; echo err >&2; exit 7"));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out, "out\n");
  EXPECT_EQ(finished->err, "err\n");
  EXPECT_EQ(finished->exit_code, 7);
  EXPECT_EQ(finished->signal, 0);
  EXPECT_FALSE(finished->ok());
}

TEST(Subprocess, TellsOfLinesOfErrorsAsTheyCome) {
  Command command = shell("printf 'one\\ntw' >&2; echo out; printf 'o\\nunfinished' >&2");
  std::vector<std::string> lines;
  command.on_error_line = [&](std::string_view line) { lines.emplace_back(line); };
  auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(finished->err, "one\ntwo\nunfinished");
}

TEST(Subprocess, GivesInputEnvironmentAndFolder) {
  Command command = shell("cat; pwd; echo $WHO; env | wc -l");
  command.input = std::string(200'000, 'x') + "\n";
  command.cwd = "/usr";
  command.env = std::map<std::string, std::string>{{"WHO", "me"}, {"PATH", "/usr/bin:/bin"}};
  auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->ok());
  EXPECT_EQ(finished->out.substr(0, 200'001), command.input);
  EXPECT_EQ(finished->out.substr(200'001, 8), "/usr\nme\n");
  EXPECT_EQ(run_command(shell("cat"))->out, "");
}

TEST(Subprocess, ReportsTheSignal) {
  auto finished = run_command(shell("kill -SEGV $$"));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->signal, SIGSEGV);
}

TEST(Subprocess, AFloodIsReadToItsEndButKeptToTheLimit) {
  Command command = shell("head -c 5000000 /dev/zero; head -c 3000000 /dev/zero >&2; exit 3");
  command.output_limit = 1000;
  auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->exit_code, 3);
  EXPECT_EQ(finished->out.size(), 1000u);
  EXPECT_EQ(finished->err.size(), 1000u);
}

TEST(Subprocess, TheTimeoutKillsTheWholeGroup) {
  Command command = shell("sleep 300 & echo $!; wait");
  command.timeout = milliseconds(200);
  auto start = std::chrono::steady_clock::now();
  auto finished = run_command(command);
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->timed_out);
  EXPECT_EQ(finished->signal, SIGKILL);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)) << "it would sleep for 300";
  pid_t grandchild = std::stoi(finished->out);
  // Killed; whoever adopts it reaps it in its own time.
  for (int i = 0; i < 100 && ::kill(grandchild, 0) == 0; ++i) {
    std::this_thread::sleep_for(milliseconds(20));
    Command state = shell("cut -d' ' -f3 /proc/" + std::to_string(grandchild) + "/stat 2>/dev/null");
    std::string letter = run_command(state)->out;
    if (letter.empty() || letter[0] == 'Z') return;
  }
  EXPECT_NE(::kill(grandchild, 0), 0);
}

TEST(Subprocess, ALeftoverThatHoldsTheOutputKeepsNobodyWaiting) {
  auto start = std::chrono::steady_clock::now();
  auto finished = run_command(shell("sleep 60 & echo done"));
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->ok());
  EXPECT_EQ(finished->out, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

// The parent is killed as `kill -9` does it: nothing of it runs any more that could end the child.
TEST(Subprocess, AChildThatDiesWithUsIsGoneWhenWeAreKilled) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    Command command = shell("echo $$ >&" + std::to_string(ends[1]) + "; exec sleep 60");
    command.dies_with_us = true;
    (void)run_command(command);
    ::_exit(0);
  }
  ::close(ends[1]);
  char text[32] = {};
  ASSERT_GT(::read(ends[0], text, sizeof text - 1), 0);
  ::close(ends[0]);
  pid_t child = std::stoi(text);
  EXPECT_EQ(::kill(child, 0), 0);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  auto gone = [&] {
    std::string letter = run_command(shell("cut -d' ' -f3 /proc/" +
                                           std::string(text, std::strcspn(text, "\n")) + "/stat 2>/dev/null"))
                             ->out;
    return letter.empty() || letter[0] == 'Z';  // whoever adopts it reaps it in its own time
  };
  for (int i = 0; i < 100 && !gone(); ++i) std::this_thread::sleep_for(milliseconds(20));
  EXPECT_TRUE(gone());
}

TEST(Subprocess, OneThatIsAskedToStopEndsInItsOwnWay) {
  std::stop_source source;
  Command command = shell("trap 'kill $!; echo asked; exit 3' INT; echo > \"$READY\"; sleep 60 & wait");
  const std::string ready = "/tmp/kforge-subprocess-" + std::to_string(::getpid());
  command.env = std::map<std::string, std::string>{{"READY", ready}, {"PATH", "/usr/bin:/bin"}};
  command.stop = source.get_token();
  std::jthread asker([&] {
    while (::access(ready.c_str(), F_OK) != 0) std::this_thread::sleep_for(milliseconds(5));
    source.request_stop();
  });
  auto finished = run_command(command);
  ::unlink(ready.c_str());
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->out, "asked\n");
  EXPECT_EQ(finished->exit_code, 3);
}

TEST(Subprocess, AMissingProgramIsAnErrorWithARemedy) {
  auto finished = run_command({.argv = {"kforge-no-such-program"}});
  ASSERT_FALSE(finished);
  EXPECT_NE(finished.error().message.find("kforge-no-such-program"), std::string::npos);
  EXPECT_NE(finished.error().remedy.find("PATH"), std::string::npos);
  EXPECT_FALSE(run_command({.argv = {"sh"}, .cwd = "/no/such/folder"}));
}

}  // namespace
}  // namespace kforge

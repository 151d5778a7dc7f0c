// The kforge program in the background, to be interrupted or killed while it works.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/kforge_run.h"

namespace kforge {

class BackgroundRun : public testing::Test {
 protected:
  // In a process group of its own, as from a shell, with its output in files.
  pid_t start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kProgram.string());
    auto env = user_environment(shared_home());
    pid_t child = ::fork();
    if (child != 0) return child;
    ::setpgid(0, 0);
    std::vector<std::string> pairs;
    for (const auto& [name, value] : env) pairs.push_back(name + "=" + value);
    std::vector<char*> argv, envp;
    for (std::string& word : arguments) argv.push_back(word.data());
    for (std::string& pair : pairs) envp.push_back(pair.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    if (!::freopen((folder_.path() / "out.json").c_str(), "w", stdout)) ::_exit(99);
    if (!::freopen((folder_.path() / "err.txt").c_str(), "w", stderr)) ::_exit(99);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(98);
  }

  int end_of(pid_t child) {
    int status = 0;
    for (int i = 0; i < 1200; ++i) {
      if (::waitpid(child, &status, WNOHANG) == child)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ::kill(-child, SIGKILL);
    ::waitpid(child, &status, 0);
    return -1;
  }

  template <class F>
  static bool comes_true(F condition) {
    for (int i = 0; i < 1200; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  std::string output() const { return read_file(folder_.path() / "out.json").value_or(""); }
  std::string errors() const { return read_file(folder_.path() / "err.txt").value_or(""); }

  TempDir folder_ = TempDir::create(0755).value();
};

}  // namespace kforge

// The kforge program in the background, to be interrupted or killed while it works.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <sstream>
#include <thread>

#include "cli/kforge_run.h"

namespace kforge {

class BackgroundRun : public testing::Test {
 protected:
  // In a process group of its own, as from a shell, with its output in files.
  pid_t start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kProgram.string());
    auto env = user_environment(shared_home());
    for (const auto& [name, value] : env_) env[name] = value;
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
      if (::wait4(child, &status, WNOHANG, &usage_) == child)
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ::kill(-child, SIGKILL);
    ::waitpid(child, &status, 0);
    return -1;
  }

  // What it has used of the processors up to now, with the programs that it waited for: unlike time on the
  // wall it does not depend on what else runs on the machine.
  static double processor_seconds(pid_t child) {
    auto text = read_file(fmt::format("/proc/{}/stat", child)).value_or("");
    std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
    std::string word;
    double ticks = 0;
    for (int i = 3; i <= 17 && fields >> word; ++i)
      if (i >= 14) ticks += std::stod(word);
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  // At its end, after end_of().
  double processor_seconds_in_all() const {
    auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage_.ru_utime) + seconds(usage_.ru_stime);
  }

  // The command lines of all processes that it or its children started.
  static std::vector<std::string> programs_below(pid_t ancestor) {
    std::vector<std::string> lines;
    std::set<long> family{ancestor};
    for (std::size_t before = 0; before != family.size();) {
      before = family.size();
      for (const auto& entry : fs::directory_iterator("/proc")) {
        long pid = std::strtol(entry.path().filename().c_str(), nullptr, 10);
        if (pid <= 0 || family.contains(pid)) continue;
        auto text = read_file(entry.path() / "stat").value_or("");
        std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
        std::string state;
        long parent = 0;
        if (!(fields >> state >> parent) || !family.contains(parent)) continue;
        family.insert(pid);
        lines.push_back(read_file(entry.path() / "cmdline").value_or(""));
      }
    }
    return lines;
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

  std::map<std::string, std::string> env_;  // on top of the user's
  rusage usage_{};
  TempDir folder_ = TempDir::create(0755).value();
};

}  // namespace kforge

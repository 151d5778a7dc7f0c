#include "cli/interrupt.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "cli/commands.h"

namespace kforge {
namespace {

int wake_pipe[2];
std::stop_source gentle_stop;
std::atomic<bool> gentle = false;
std::atomic<const char*> gentle_words = "";

// All that a signal handler may do: wake the thread that does the work. Being a handler (and not a blocked
// signal) it ends with exec, so that programs started meanwhile get the signals as usual.
extern "C" void on_signal(int) {
  char byte = 0;
  (void)!::write(wake_pipe[1], &byte, 1);
}

// The parent of a process, from /proc/PID/stat; the name in it may hold spaces and brackets.
pid_t parent_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  std::size_t bracket = line.rfind(')');
  if (bracket == std::string::npos || bracket + 4 >= line.size()) return 0;
  return static_cast<pid_t>(std::strtol(line.c_str() + bracket + 4, nullptr, 10));
}

std::vector<pid_t> descendants(pid_t ancestor) {
  std::multimap<pid_t, pid_t> children;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    auto pid = static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
    if (pid > 0) children.emplace(parent_of(pid), pid);
  }
  std::vector<pid_t> found{ancestor};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (auto [at, end] = children.equal_range(found[i]); at != end; ++at) found.push_back(at->second);
  found.erase(found.begin());
  return found;
}

void wait_for_signal() {
  char byte;
  while (::read(wake_pipe[0], &byte, 1) != 1) {
  }
}

void clean_up_and_leave() {
  wait_for_signal();
  if (gentle) {
    gentle_stop.request_stop();
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    fmt::print(stderr, "{}kforge: {}{}\n", terminal ? "\r\x1b[K" : "", gentle_words.load(),
               terminal ? "; once more to leave at once" : "");
    wait_for_signal();
  }
  // Stopped first, so that none starts another while the list is worked through.
  std::vector<pid_t> processes = descendants(::getpid());
  for (pid_t pid : processes) ::kill(pid, SIGSTOP);
  for (pid_t pid : descendants(::getpid())) ::kill(pid, SIGKILL);
  remove_live_temp_dirs();
  std::fputs(::isatty(STDERR_FILENO) ? "\r\x1b[Kkforge: interrupted\n" : "kforge: interrupted\n", stderr);
  ::_exit(kExitInterrupted);
}

}  // namespace

void stop_gently(const char* words) {
  gentle_words = words;
  gentle = true;
}

std::stop_token stop_on_interrupt() {
  clean_up_on_interrupt();
  return gentle_stop.get_token();
}

void clean_up_on_interrupt() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (::pipe2(wake_pipe, O_CLOEXEC) != 0) return;
    std::thread(clean_up_and_leave).detach();
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  });
}

}  // namespace kforge

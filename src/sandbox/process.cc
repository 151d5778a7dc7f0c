#include "sandbox/process.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "sandbox/proc.h"

namespace kforge {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kStartLimit{20'000};
// Nothing in a program can hold a stop up for long; a machine with many others ready to run can, for seconds.
constexpr milliseconds kStopLimit{60'000};
// A thread that still runs then is told again: on a busy machine one was seen to run on for seconds.
constexpr milliseconds kStopPatience{100};
constexpr std::chrono::microseconds kStopPause{10};
constexpr milliseconds kOuterGrace{5'000};  // past the wall limit, which the launcher enforces itself

}  // namespace

LaunchedProcess::LaunchedProcess(pid_t launcher, Fd control, OutputCapture out, OutputCapture err,
                                 const SandboxLimits& limits)
    : launcher_(launcher),
      control_(std::move(control)),
      out_(std::move(out)),
      err_(std::move(err)),
      limits_(limits),
      started_(steady_clock::now()) {}

Result<std::unique_ptr<SandboxedProcess>> LaunchedProcess::take_over(pid_t launcher, Fd control,
                                                                     OutputCapture out, OutputCapture err,
                                                                     const SandboxLimits& limits) {
  std::unique_ptr<LaunchedProcess> process(
      new LaunchedProcess(launcher, std::move(control), std::move(out), std::move(err), limits));
  KF_TRY_VOID(process->await_running());
  return process;
}

LaunchedProcess::~LaunchedProcess() { end_launcher(); }

Result<void> LaunchedProcess::await_running() {
  auto deadline = steady_clock::now() + kStartLimit;
  for (;;) {
    LaunchReport report{};
    pid_t sender = 0;
    auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0) return fail("the sandbox did not start within {} s", kStartLimit.count() / 1000);
    if (!receive(report, sender, static_cast<int>(left))) {
      if (!lost_) continue;
      return fail("the sandbox could not be built: {}", err_.text());
    }
    if (report.event == LaunchEvent::kFailed) return fail("the sandbox could not be built: {}", report.text);
    if (report.event == LaunchEvent::kLimited) cgroups_ = report.cgroups;
    if (report.event == LaunchEvent::kStarted) {
      program_ = sender;
      program_handle_.reset(static_cast<int>(::syscall(SYS_pidfd_open, program_, 0)));
    }
    if (report.event == LaunchEvent::kRunning) {
      parent_of_program_ = sender;
      return {};
    }
  }
}

bool LaunchedProcess::receive(LaunchReport& report, pid_t& sender, int timeout_ms) {
  pollfd ready{control_.get(), POLLIN, 0};
  int count = ::poll(&ready, 1, timeout_ms);
  if (count <= 0) return false;
  alignas(cmsghdr) char credentials[CMSG_SPACE(sizeof(ucred))];
  iovec data{&report, sizeof report};
  msghdr message{
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = credentials, .msg_controllen = sizeof credentials};
  ssize_t got = ::recvmsg(control_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (got != static_cast<ssize_t>(sizeof report)) {
    lost_ = true;
    return false;
  }
  report.text[sizeof report.text - 1] = 0;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS) {
    ucred who{};
    std::memcpy(&who, CMSG_DATA(header), sizeof who);
    sender = who.pid;
  }
  return true;
}

void LaunchedProcess::signal(int number) const {
  if (program_handle_.valid()) ::syscall(SYS_pidfd_send_signal, program_handle_.get(), number, nullptr, 0);
}

// The first thread to see the signal stops the others. For a signal to the process that would be its first
// thread, which may be waiting for a processor, even for this one: for milliseconds the others would go on.
// Whichever thread is running now must see one, so each gets its own. (SIGCONT takes back what is left over.)
void LaunchedProcess::send_stop() {
  for (pid_t thread : tasks_) ::syscall(SYS_tgkill, program_, thread, SIGSTOP);
  signal(SIGSTOP);
}

std::optional<steady_clock::time_point> LaunchedProcess::stop() {
  send_stop();
  auto sent = steady_clock::now(), asked = sent;
  const auto deadline = sent + kStopLimit;
  for (;;) {
    Tasks tasks = tasks_of(program_);
    const bool again = steady_clock::now() > asked + kStopPatience;
    for (pid_t thread : tasks.running) {
      const bool is_new = std::ranges::find(tasks_, thread) == tasks_.end();
      if (!is_new && !again) continue;
      ::syscall(SYS_tgkill, program_, thread, SIGSTOP);
      if (is_new) sent = steady_clock::now();
    }
    if (again) asked = steady_clock::now();
    tasks_ = std::move(tasks.all);
    if (tasks.running.empty()) return sent;
    if (steady_clock::now() > deadline) return std::nullopt;
    std::this_thread::sleep_for(kStopPause);  // yielding would not give this processor to a thread of it
  }
}

void LaunchedProcess::resume() { signal(SIGCONT); }
void LaunchedProcess::kill() { signal(SIGKILL); }

bool LaunchedProcess::take_exit(int timeout_ms) {
  if (has_exit_ || lost_) return true;
  LaunchReport report{};
  pid_t sender = 0;
  if (receive(report, sender, timeout_ms) && report.event == LaunchEvent::kExited) {
    exit_ = report;
    has_exit_ = true;
  }
  return has_exit_ || lost_;
}

bool LaunchedProcess::ended() { return take_exit(0); }

Result<SandboxExit> LaunchedProcess::wait() {
  if (done_) return *done_;
  auto deadline = started_ + limits_.wall + kOuterGrace;
  bool overdue = false;
  while (!overdue && !take_exit(100)) overdue = steady_clock::now() >= deadline;
  bool reported = has_exit_;  // before the group was made to end
  end_launcher();
  SandboxExit exit;
  if (reported) {
    exit.signal = WIFSIGNALED(exit_.status) ? WTERMSIG(exit_.status) : 0;
    exit.exit_code = WIFEXITED(exit_.status) ? WEXITSTATUS(exit_.status) : 0;
    exit.usage = exit_.usage;
    exit.wall_exceeded = exit_.wall_exceeded;
    exit.folder_exceeded = exit_.folder_exceeded;
    exit.memory_exceeded = exit_.memory_exceeded;
    exit.left_processes = exit_.left_processes;
  } else {  // somebody killed the launcher, or it could not act in time: all inside is dead by now
    exit.signal = SIGKILL;
    exit.wall_exceeded = overdue || steady_clock::now() >= started_ + limits_.wall;
  }
  exit.out = out_.text();
  exit.err = err_.text();
  exit.output_truncated = out_.full() || err_.full();
  done_ = exit;
  return exit;
}

// A closed socket is the sign to end: the launcher kills whatever is left, takes its control groups away and
// goes. Its own end of the socket closes when the last of its processes is gone.
void LaunchedProcess::end_launcher() {
  if (launcher_ <= 0) return;
  if (!has_exit_) ::shutdown(control_.get(), SHUT_WR);
  auto deadline = steady_clock::now() + kOuterGrace;
  while (!lost_ && steady_clock::now() < deadline) {
    LaunchReport report{};
    pid_t sender = 0;
    if (receive(report, sender, 100) && report.event == LaunchEvent::kExited && !has_exit_) {
      exit_ = report;
      has_exit_ = true;
    }
  }
  if (!lost_) ::kill(launcher_, SIGKILL);  // it does not answer
  while (::waitpid(launcher_, nullptr, 0) < 0 && errno == EINTR) {
  }
  launcher_ = 0;
}

int LaunchedProcess::other_processes() const {
  if (launcher_ <= 0) return 0;
  return count_descendants(parent_of_program_, program_);
}

std::string LaunchedProcess::group_limits() const {
  std::string text = "rlimits";
  if (cgroups_ & 1) text += ", cgroup pids";
  if (cgroups_ & 2) text += ", cgroup memory";
  return text;
}

}  // namespace kforge

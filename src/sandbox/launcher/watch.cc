// Waiting for the program, and making sure that nothing of it is left.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/launcher/steps.h"

namespace kforge::launcher {
namespace {

constexpr int64_t kLookEveryMs = 200;
constexpr int64_t kGraceMs = 2000;  // for the inner limit to act before the outer one does

int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

enum class Woken { kEnded, kKForgeGone, kLimit, kFolder, kMemory };

struct Watched {
  bool folder = false, memory = false;
};

// Sleeps until the process ends, KForge closes its end of the socket (however it ended), the time is up, or
// (where that is to be watched) too much was written or is held. Else it wakes for nothing: a timed program
// must not be disturbed.
Woken sleep_until(const Plan& plan, int process, int64_t deadline_ms, Watched what) {
  for (;;) {
    pollfd watched[2] = {{process, POLLIN, 0}, {plan.control(), POLLIN | POLLRDHUP, 0}};
    int64_t left = deadline_ms - now_ms();
    if (left <= 0) return Woken::kLimit;
    int64_t longest = what.folder || what.memory ? kLookEveryMs : 1'000'000;
    int ready = ::poll(watched, 2, static_cast<int>(left < longest ? left : longest));
    if (ready < 0 && errno != EINTR) return Woken::kKForgeGone;
    if (ready > 0 && watched[0].revents) return Woken::kEnded;
    if (ready > 0 && watched[1].revents) return Woken::kKForgeGone;
    if (ready == 0 && what.folder && folder_too_large(plan)) return Woken::kFolder;
    if (ready == 0 && what.memory && memory_too_large(plan)) return Woken::kMemory;
  }
}

int open_pidfd(const Plan& plan, pid_t process) {
  int fd = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (fd < 0) die(plan, "cannot watch the program");
  return fd;
}

// Whether this process still has children, after taking the ended ones away.
bool has_children() {
  for (;;) {
    pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
    if (ended == 0) return true;
    if (ended < 0 && errno != EINTR) return false;
  }
}

}  // namespace

// From /proc/<pid>/stat: "pid (name) state ppid ...", where the name may contain anything.
pid_t parent_of(const char* pid) {
  char path[64] = "/proc/", text[512];
  ::strncat(path, pid, 20);
  ::strcat(path, "/stat");
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t length = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (length <= 0) return 0;
  text[length] = 0;
  const char* after_name = ::strrchr(text, ')');
  return after_name && ::strlen(after_name) > 4 ? ::atoi(after_name + 4) : 0;
}

namespace {

// Orphans are given to this process (it is their subreaper), so killing children until none is left kills the
// whole tree, whatever sessions and groups it made for itself.
void kill_children() {
  DIR* proc = ::opendir("/proc");
  if (!proc) return;
  pid_t self = ::getpid();
  while (dirent* entry = ::readdir(proc)) {
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == self)
      ::kill(::atoi(entry->d_name), SIGKILL);
  }
  ::closedir(proc);
}

// A process of the program's uid may signal exactly the processes of that uid, and kill(-1) reaches them all
// at once: no fork can slip between.
void kill_all_of(uid_t uid) {
  pid_t killer = ::fork();
  if (killer == 0) {
    if (::syscall(SYS_setresuid, uid, uid, uid) == 0) ::kill(-1, SIGKILL);
    ::_exit(0);
  }
  if (killer > 0) ::waitpid(killer, nullptr, 0);
}

}  // namespace

void watch_program(const Plan& plan, pid_t program, bool memory) {
  int process = open_pidfd(plan, program);
  Woken woken = sleep_until(plan, process, now_ms() + plan.head->wall_ms, {plan.writable[0] != 0, memory});
  if (woken != Woken::kEnded) ::kill(program, SIGKILL);
  LaunchReport report{.event = LaunchEvent::kExited,
                      .wall_exceeded = woken == Woken::kLimit,
                      .folder_exceeded = woken == Woken::kFolder,
                      .memory_exceeded = woken == Woken::kMemory};
  while (::wait4(program, &report.status, 0, &report.usage) < 0 && errno == EINTR) {
  }
  report.left_processes = has_children();
  send_report(plan, report);
}

void watch_wrapper(const Plan& plan, pid_t wrapper) {
  int process = open_pidfd(plan, wrapper);
  Woken woken = sleep_until(plan, process, now_ms() + plan.head->wall_ms + kGraceMs, {});
  if (woken != Woken::kEnded) ::kill(wrapper, SIGKILL);  // --die-with-parent takes the namespace along
  while (::waitpid(wrapper, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void kill_leftovers(uid_t uid) {
  while (has_children()) {
    if (uid != 0) kill_all_of(uid);
    kill_children();
    ::usleep(200);
  }
}

}  // namespace kforge::launcher

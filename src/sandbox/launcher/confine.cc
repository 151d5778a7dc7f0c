// What is taken from a process before it becomes the program (or the wrapper around it).
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/launcher/steps.h"

namespace kforge::launcher {
namespace {

void limit(const Plan& plan, int what, const char* name, uint64_t soft, uint64_t hard) {
  rlimit now{};
  ::getrlimit(static_cast<__rlimit_resource>(what), &now);
  // A limit can only be lowered; one already tighter stays.
  rlimit wanted{soft < now.rlim_max ? soft : now.rlim_max, hard < now.rlim_max ? hard : now.rlim_max};
  if (::setrlimit(static_cast<__rlimit_resource>(what), &wanted) != 0) die(plan, "cannot limit", name);
}

// In a user namespace (a rootless container) only some uids exist; no process can change to another.
bool exists_here(uid_t uid) {
  char text[4096];
  int fd = ::open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : ::read(fd, text, sizeof text - 1);
  if (fd >= 0) ::close(fd);
  if (length < 0) return true;
  text[length] = 0;
  for (char* at = text; *at;) {  // lines of: first uid here, first uid outside, how many
    unsigned long first = ::strtoul(at, &at, 10);
    ::strtoul(at, &at, 10);
    unsigned long count = ::strtoul(at, &at, 10);
    if (uid >= first && uid - first < count) return true;
    while (*at == '\n' || *at == ' ') ++at;
  }
  return false;
}

}  // namespace

void keep_only_known_fds(const Plan& plan) {
  unsigned first_unknown = static_cast<unsigned>(program_file_fd_of(*plan.head)) + 1;
  if (::syscall(SYS_close_range, first_unknown, ~0u, 0) != 0) die(plan, "cannot close inherited descriptors");
}

void hide_launcher_fds(const Plan& plan) {
  unsigned first_own = static_cast<unsigned>(plan.control());
  if (::syscall(SYS_close_range, first_own, ~0u, CLOSE_RANGE_CLOEXEC) != 0)
    die(plan, "cannot hide the launcher's descriptors");
}

uid_t unallocated_uid() {
  // The launcher's pid makes it distinct among all living launchers, so that limits per user and a kill of
  // all processes of the user concern this one program.
  uid_t wanted = 1'900'000'000u + static_cast<uid_t>(::getpid());
  if (exists_here(wanted)) return wanted;
  return 20'000u + static_cast<uid_t>(::getpid()) % 40'000u;
}

void give_writable_folder(const Plan& plan, uid_t uid) {
  if (!plan.head->drop_privileges || !plan.writable[0]) return;
  int folder = ::open(plan.writable, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || ::fchownat(folder, "", uid, uid, AT_EMPTY_PATH) != 0)
    die(plan, "cannot give the program its folder", plan.writable);
  ::close(folder);
}

void drop_to_unallocated_uid(const Plan& plan, uid_t uid) {
  if (!plan.head->drop_privileges) return;
  if (::setgroups(0, nullptr) != 0) die(plan, "cannot clear the supplementary groups");
  if (::setresgid(uid, uid, uid) != 0) die(plan, "cannot change to an unprivileged group");
  if (::setresuid(uid, uid, uid) != 0) die(plan, "cannot change to an unprivileged user");
}

void forbid_new_privileges(const Plan& plan) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die(plan, "cannot forbid new privileges");
}

void set_affinity(const Plan& plan) {
  if (!plan.head->set_affinity) return;
  if (::syscall(SYS_sched_setaffinity, 0, sizeof plan.head->cpus, plan.head->cpus) < 0)
    die(plan, "cannot bind the program to its processors");
}

void set_limits(const Plan& plan) {
  const LaunchPlan& head = *plan.head;
  limit(plan, RLIMIT_CORE, "core files", 0, 0);
  // One second between the signal that can be reported (SIGXCPU) and the one that cannot be caught.
  limit(plan, RLIMIT_CPU, "processor time", head.cpu_seconds, head.cpu_seconds + 1);
  limit(plan, RLIMIT_FSIZE, "file size", head.file_bytes, head.file_bytes);
  limit(plan, RLIMIT_NOFILE, "open files", head.open_files, head.open_files);
  limit(plan, RLIMIT_AS, "memory", head.address_bytes, head.address_bytes);
  if (head.limit_processes) limit(plan, RLIMIT_NPROC, "processes", head.processes, head.processes);
}

void install_filter(const Plan& plan) {
  if (!plan.head->has_filter) return;
  int fd = filter_fd_of(*plan.head);
  struct stat info {};
  if (::fstat(fd, &info) != 0) die(plan, "cannot read the system-call filter");
  size_t size = static_cast<size_t>(info.st_size);
  void* code = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (code == MAP_FAILED) die(plan, "cannot read the system-call filter");
  sock_fprog program{static_cast<unsigned short>(size / sizeof(sock_filter)),
                     static_cast<sock_filter*>(code)};
  // SPEC_ALLOW: older kernels otherwise slow every program with a filter down (no store bypass), which would
  // falsify timings.
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) != 0)
    die(plan, "cannot install the system-call filter");
}

}  // namespace kforge::launcher

// kforge-launch: stands between KForge and an untrusted program. It does, in order, everything that confines
// the program, starts it, and tells KForge how it ended.
//
//   bubblewrap tier:  kforge -> supervise -> bwrap -> init (pid 1 of the namespace) -> program
//   other tiers:      kforge -> supervise -> program
//
// `init` is this same file, copied inside. It exists because bubblewrap's own init turns "killed by signal n"
// into exit code 128+n, which a program can forge.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/launcher/steps.h"

namespace kforge::launcher {
namespace {

// By path, as programs that look for their own folder (compilers) need it; by descriptor where a folder on
// the way is closed to the dropped uid (KForge built under /root).
[[noreturn]] void execute_program(const Plan& plan) {
  ::execve(plan.argv[0], plan.argv, plan.env);
  int by_path = errno;
  if (by_path == EACCES || by_path == ENOENT)
    ::syscall(SYS_execveat, program_file_fd_of(*plan.head), "", plan.argv, plan.env, AT_EMPTY_PATH);
  errno = by_path;
  die(plan, "cannot execute", plan.argv[0]);
}

// The process that becomes the program: from here on every step takes something away.
[[noreturn]] void become_program(const Plan& plan, uid_t uid, const Cgroups& groups) {
  const LaunchPlan& head = *plan.head;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // dies with the process that watches it
  hide_launcher_fds(plan);
  int ruleset = head.use_landlock ? make_landlock_ruleset(plan) : -1;
  bool inside = head.wrapper_argc > 0;  // bubblewrap's side of the steps is already done
  if (!inside) {
    join_cgroups(plan, groups);
    give_writable_folder(plan, uid);
    drop_to_unallocated_uid(plan, uid);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of uid forgets it
    const char* folder = plan.writable[0] ? plan.writable : "/";
    if (::chdir(folder) != 0) die(plan, "cannot enter", folder);
  }
  forbid_new_privileges(plan);
  set_affinity(plan);
  set_limits(plan);
  send_report(plan, {.event = LaunchEvent::kStarted});
  if (head.use_landlock) enforce_landlock(plan, ruleset);
  install_filter(plan);
  execute_program(plan);
}

// Starts the program and returns once it is executing (the pipe closes when exec succeeds or the child dies).
pid_t start_program(const Plan& plan, uid_t uid, const Cgroups& groups) {
  int executing[2];
  if (::pipe2(executing, O_CLOEXEC) != 0) die(plan, "cannot make a pipe");
  pid_t child = ::fork();
  if (child < 0) die(plan, "cannot start a process for the program");
  if (child == 0) become_program(plan, uid, groups);
  ::close(executing[1]);
  char none;
  while (::read(executing[0], &none, 1) < 0 && errno == EINTR) {
  }
  ::close(executing[0]);
  send_report(plan, {.event = LaunchEvent::kRunning});
  return child;
}

// Pid 1 of the namespace. When it ends, the kernel kills everything else in there.
int init(const Plan& plan) {
  ::prctl(PR_SET_DUMPABLE, 0);  // nobody in here may look into the launcher's memory
  pid_t program = start_program(plan, 0, {});
  watch_program(plan, program, plan.head->watch_memory);  // few processes are to be seen in here
  return 0;
}

// The process that becomes bubblewrap. Dropping the uid first makes RLIMIT_NPROC bind (it never binds root)
// and leaves nothing of root's to a program that breaks out of the namespaces.
[[noreturn]] void become_wrapper(const Plan& plan, uid_t uid, const Cgroups& groups) {
  join_cgroups(plan, groups);
  give_writable_folder(plan, uid);
  drop_to_unallocated_uid(plan, uid);
  forbid_new_privileges(plan);
  static char* no_environment[] = {nullptr};
  ::execve(plan.wrapper_argv[0], plan.wrapper_argv, no_environment);
  die(plan, "cannot execute", plan.wrapper_argv[0]);
}

int supervise(const Plan& plan) {
  ::setsid();  // Ctrl-C and job control of KForge's terminal do not reach in; KForge's end is seen on the
               // socket
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans of the program become ours, to be killed
  ::prctl(PR_SET_DUMPABLE, 0);
  keep_only_known_fds(plan);
  uid_t uid = plan.head->drop_privileges ? unallocated_uid() : ::getuid();
  Cgroups groups = make_cgroups(plan);
  send_report(plan, {.event = LaunchEvent::kLimited, .cgroups = groups.bits()});
  if (plan.head->wrapper_argc > 0) {
    pid_t wrapper = ::fork();
    if (wrapper < 0) die(plan, "cannot start a process for bubblewrap");
    if (wrapper == 0) become_wrapper(plan, uid, groups);
    watch_wrapper(plan, wrapper);
  } else {
    pid_t program = start_program(plan, uid, groups);
    watch_program(plan, program, plan.head->watch_memory && !groups.memory[0]);
  }
  kill_leftovers(plan.head->drop_privileges ? uid : 0);
  remove_cgroups(groups);
  return 0;
}

}  // namespace
}  // namespace kforge::launcher

int main(int argc, char** argv) {
  using namespace kforge::launcher;
  if (argc != 3) {
    static const char usage[] = "kforge-launch is started by kforge itself\n";
    ::write(2, usage, sizeof usage - 1);
    return 2;
  }
  Plan plan = read_plan(::atoi(argv[2]));
  return ::strcmp(argv[1], "init") == 0 ? init(plan) : supervise(plan);
}

// Profile `native`: the runner with a candidate's machine code in its own process. Three filters, each
// tighter, as the work allows it:
//   start  (installed by the launcher)   what the runner needs to start
//   load   (installed by the runner before dlopen)  a closed list; reading files and mapping code still
//   possible run    (installed by the runner after dlopen)   no opens, no new code: what is loaded is all
//   there is
// The kernel applies all that are installed and takes the strictest answer.
//
// Three answers: calls an honest kernel makes are allowed; calls that libraries may make in passing get EPERM
// (or the error that makes them fall back); calls that only an attack makes raise SIGSYS, and the runner
// reports them.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <termios.h>

#include <cerrno>

#include "sandbox/filter.h"

namespace kforge {
namespace {

enum class Stage : std::uint8_t { kLoad, kRun };

// As runner/filters.cc installs its filters: on all threads at once.
constexpr std::uint64_t kRunnerSeccompFlags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
constexpr std::uint64_t kInt = 0xffffffff;  // arguments that are int: only the lower half counts

void allow_memory(Filter& filter, Stage stage) {
  filter
      .allow({"munmap", "brk", "mincore", "mlock", "mlock2", "munlock", "membarrier", "mbind",
              "get_mempolicy", "set_mempolicy"})
      // realloc moves large blocks; a fixed target could lay one mapping over another.
      .allow_if("mremap", {{3, kInt & ~std::uint64_t{MREMAP_MAYMOVE}, 0}})
      .allow_if("mmap", {{2, PROT_EXEC, 0}})
      .allow_if("mprotect", {{2, PROT_EXEC, 0}})
      .trap(
          {"pkey_mprotect", "pkey_alloc", "remap_file_pages", "memfd_create", "memfd_secret", "userfaultfd"});
  // Advice about its own memory. Inputs are shared with rivals: paged out by one, they come back in another's
  // time.
  for (unsigned advice :
       {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE,
        MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP, MADV_POPULATE_READ, MADV_POPULATE_WRITE})
    filter.allow_if("madvise", {{2, kInt, advice}});
  for (unsigned advice : {MADV_PAGEOUT, MADV_COLD, MADV_REMOVE, MADV_HWPOISON})
    filter.trap_if("madvise", {{2, kInt, advice}});
  if (stage == Stage::kLoad) {
    // The loader maps code from files, never writable. A library that wants an executable stack is told no.
    filter.allow_if("mmap", {{2, PROT_EXEC | PROT_WRITE, PROT_EXEC}, {3, MAP_ANONYMOUS | MAP_SHARED, 0}})
        .trap_if("mmap", {{2, PROT_EXEC, PROT_EXEC}, {3, MAP_ANONYMOUS, MAP_ANONYMOUS}})
        .trap_if("mmap", {{2, PROT_EXEC | PROT_WRITE, PROT_EXEC | PROT_WRITE}, {3, MAP_ANONYMOUS, 0}});
  } else {
    filter.trap_if("mmap", {{2, PROT_EXEC, PROT_EXEC}}).trap_if("mprotect", {{2, PROT_EXEC, PROT_EXEC}});
  }
}

void allow_threads(Filter& filter) {
  constexpr std::uint64_t thread = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;
  constexpr std::uint64_t never = CLONE_VFORK | CLONE_PTRACE | CLONE_UNTRACED | CLONE_NEWNS |
                                  CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                  CLONE_NEWPID | CLONE_NEWNET | CLONE_IO;
  filter
      .allow({"futex", "futex_waitv", "set_robust_list", "get_robust_list", "rseq", "set_tid_address",
              "gettid", "getpid", "getppid", "exit", "exit_group", "restart_syscall"})
      .allow_if("clone", {{0, thread | never, thread}})
      .trap_if("clone", {{0, CLONE_THREAD, 0}})
      .trap({"fork", "vfork", "execve", "execveat"})
      .refuse({"clone3"}, ENOSYS);  // its flags cannot be seen here; libc falls back to clone
}

void allow_scheduling_and_clocks(Filter& filter) {
  filter.allow({"sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getparam",
                "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min", "getcpu",
                "clock_gettime", "clock_getres", "gettimeofday", "time", "times", "nanosleep",
                "clock_nanosleep", "getrusage", "getpriority"});
}

void allow_signals(Filter& filter) {
  filter.allow({"rt_sigprocmask", "rt_sigreturn", "sigaltstack", "rt_sigpending", "rt_sigsuspend",
                "rt_sigtimedwait", "pause"});
  // A handler for SIGSYS could hide a refused call, one for a fault an access outside of the tensors, by
  // stepping over the instruction; every other signal is the program's own affair.
  for (unsigned signal = 1; signal <= 64; ++signal) {
    if (signal == SIGSYS || signal == SIGSEGV || signal == SIGBUS)
      filter.trap_if("rt_sigaction", {{0, kInt, signal}});
    else
      filter.allow_if("rt_sigaction", {{0, kInt, signal}});
  }
  filter
      // Also abort()'s to itself, whose target cannot be told from another process here: the runner's handler
      // can, and reports it as what it is.
      .trap({"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"});
}

void allow_descriptors(Filter& filter, Stage stage) {
  filter
      .allow({"read", "write", "readv", "writev", "recvmsg", "sendmsg", "recvfrom", "sendto", "poll", "ppoll",
              "close", "fstat", "lseek", "getrandom"})
      .allow_if("fcntl", {{1, kInt, F_GETFL}})
      .allow_if("fcntl", {{1, kInt, F_GETFD}})
      .refuse_if("ioctl", {{1, kInt, TCGETS}}, ENOTTY);  // isatty(), asked by every first printf
  filter.refuse({"openat2"}, ENOSYS);                    // its flags cannot be seen here
  if (stage == Stage::kLoad) {
    filter.allow({"pread64", "newfstatat", "stat", "statx", "access", "faccessat", "faccessat2", "readlink",
                  "readlinkat", "getcwd"});
  } else {
    // Looking for a file is no crime (libraries look for settings); there just is none.
    filter
        .refuse({"stat", "lstat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat"},
                ENOENT)
        .allow_if("newfstatat", {{3, AT_EMPTY_PATH, AT_EMPTY_PATH}})  // fstat() of libc
        .refuse_if("newfstatat", {{3, AT_EMPTY_PATH, 0}}, ENOENT);
  }
  for (auto [call, flags] : {std::pair{"open", 1u}, std::pair{"openat", 2u}}) {
    std::uint64_t writing = O_ACCMODE | O_CREAT | O_TRUNC | (__O_TMPFILE & ~O_DIRECTORY);
    if (stage == Stage::kLoad) filter.allow_if(call, {{flags, writing, O_RDONLY}});
    if (stage == Stage::kRun) filter.refuse_if(call, {{flags, writing, O_RDONLY}}, ENOENT);
    for (std::uint64_t bit : {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, __O_TMPFILE & ~O_DIRECTORY})
      filter.trap_if(call, {{flags, bit, bit}});
  }
}

void allow_questions(Filter& filter) {
  filter
      .allow(
          {"uname", "sysinfo", "getuid", "geteuid", "getgid", "getegid", "getrlimit", "arch_prctl"})  // AMX
      .allow_if("prlimit64", {{2, ~std::uint64_t{0}, 0}});  // reading a limit
  constexpr std::uint64_t kSetVma = 0x53564d41;             // names a mapping; newer malloc does
  for (std::uint64_t harmless : {std::uint64_t{PR_SET_NAME}, std::uint64_t{PR_GET_NAME}, kSetVma})
    filter.allow_if("prctl", {{0, kInt, harmless}});
}

void trap_attacks(Filter& filter) {
  filter.trap({"socket",
               "socketpair",
               "connect",
               "bind",
               "listen",
               "accept",
               "accept4",
               "ptrace",
               "process_vm_readv",
               "process_vm_writev",
               "process_madvise",
               "pidfd_open",
               "pidfd_getfd",
               "open_by_handle_at",
               "name_to_handle_at",
               "mount",
               "umount2",
               "pivot_root",
               "chroot",
               "move_mount",
               "open_tree",
               "fsopen",
               "unshare",
               "setns",
               "bpf",
               "perf_event_open",
               "io_uring_setup",
               "io_uring_enter",
               "io_uring_register",
               "personality",
               "keyctl",
               "add_key",
               "request_key",
               "init_module",
               "finit_module",
               "kexec_load",
               "creat",
               "mkdir",
               "mkdirat",
               "unlink",
               "unlinkat",
               "rename",
               "renameat",
               "renameat2",
               "link",
               "linkat",
               "symlink",
               "symlinkat",
               "mknod",
               "mknodat",
               "chmod",
               "fchmod",
               "fchmodat",
               "chown",
               "fchown",
               "fchownat",
               "lchown",
               "truncate",
               "ftruncate",
               "setuid",
               "setgid",
               "setresuid",
               "setresgid",
               "setsid",
               "setpgid",
               "capset",
               "modify_ldt",
               "clock_settime",
               "settimeofday",
               "timer_create",
               "setitimer",
               "shmget",
               "shmat",
               "mq_open"});
}

// Every prctl but the harmless ones: they change how the process is confined or watched.
void trap_other_prctl(Filter& filter) {
  for (std::uint64_t option = 1; option <= 75; ++option) {
    if (option != PR_SET_NAME && option != PR_GET_NAME) filter.trap_if("prctl", {{0, kInt, option}});
  }
}

Result<Fd> native_filter(Stage stage) {
  Filter filter(Filter::Default::kRefuse);
  allow_memory(filter, stage);
  allow_threads(filter);
  allow_scheduling_and_clocks(filter);
  allow_signals(filter);
  allow_descriptors(filter, stage);
  allow_questions(filter);
  trap_attacks(filter);
  trap_other_prctl(filter);
  // The runner must still install the run filter. A candidate that uses this during loading confines itself
  // more; the worst it gains is the load filter's freedom, under which Landlock leaves it nothing but its own
  // file.
  if (stage == Stage::kLoad)
    filter.allow_if("seccomp", {{0, kInt, SECCOMP_SET_MODE_FILTER}, {1, kInt, kRunnerSeccompFlags}});
  else
    filter.trap({"seccomp"});
  return filter.export_sealed();
}

}  // namespace

Result<Fd> native_start_filter(SandboxTier tier) {
  Filter filter(Filter::Default::kAllow);
  refuse_kernel_surface(filter);
  if (tier == SandboxTier::kLandlock) refuse_signals_to_others(filter);
  return filter.export_sealed();
}

Result<Fd> load_filter() {
  static FilterOnce filter;
  return filter.get([] { return native_filter(Stage::kLoad); });
}

Result<Fd> run_filter() {
  static FilterOnce filter;
  return filter.get([] { return native_filter(Stage::kRun); });
}

}  // namespace kforge

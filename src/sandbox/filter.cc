#include "sandbox/filter.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace kforge {
namespace {

constexpr std::uint64_t kWhole = ~std::uint64_t{0};
constexpr std::uint64_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | 0x80 /* CLONE_NEWTIME */;

}  // namespace

Filter::Filter(Default otherwise)
    : otherwise_(otherwise == Default::kAllow ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM)) {
  context_ = ::seccomp_init(otherwise_);
  if (!context_) {
    problem_ = "out of memory";
    return;
  }
  // Calls of another architecture (x32, i386 on x86-64) would pass by other numbers: the process dies.
  ::seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  ::seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE,
                     2);  // a binary tree instead of a list of comparisons
}

Filter::~Filter() {
  if (context_) ::seccomp_release(context_);
}

Filter& Filter::add(std::uint32_t action, std::string_view call, std::initializer_list<ArgumentIs> all) {
  if (!context_ || action == otherwise_) return *this;
  int number = ::seccomp_syscall_resolve_name(std::string(call).c_str());
  if (number == __NR_SCMP_ERROR || number < 0) return *this;
  std::vector<scmp_arg_cmp> conditions;
  for (const ArgumentIs& is : all) conditions.push_back({is.argument, SCMP_CMP_MASKED_EQ, is.mask, is.value});
  int error = ::seccomp_rule_add_array(context_, action, number, static_cast<unsigned>(conditions.size()),
                                       conditions.data());
  if (error != 0 && problem_.empty()) problem_ = fmt::format("{}: {}", call, std::strerror(-error));
  return *this;
}

Filter& Filter::allow(std::initializer_list<std::string_view> calls) {
  for (std::string_view call : calls) add(SCMP_ACT_ALLOW, call, {});
  return *this;
}
Filter& Filter::allow_if(std::string_view call, std::initializer_list<ArgumentIs> all) {
  return add(SCMP_ACT_ALLOW, call, all);
}
Filter& Filter::refuse(std::initializer_list<std::string_view> calls, int error) {
  for (std::string_view call : calls) add(SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call, {});
  return *this;
}
Filter& Filter::refuse_if(std::string_view call, std::initializer_list<ArgumentIs> all, int error) {
  return add(SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call, all);
}
Filter& Filter::trap(std::initializer_list<std::string_view> calls) {
  for (std::string_view call : calls) add(SCMP_ACT_TRAP, call, {});
  return *this;
}
Filter& Filter::trap_if(std::string_view call, std::initializer_list<ArgumentIs> all) {
  return add(SCMP_ACT_TRAP, call, all);
}

Result<Fd> Filter::export_sealed() {
  if (!problem_.empty()) return fail("cannot build a system-call filter: {}", problem_);
  KF_TRY(Fd fd, make_memfd("seccomp-filter", 0));
  if (int error = ::seccomp_export_bpf(context_, fd.get()); error != 0)
    return fail("cannot export a system-call filter: {}", std::strerror(-error));
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return fail("cannot seal a system-call filter: {}", std::strerror(errno));
  return fd;
}

Result<Fd> FilterOnce::copy() const {
  if (!filter_) return std::unexpected(filter_.error());
  Fd fd(::fcntl(filter_->get(), F_DUPFD_CLOEXEC, 0));
  if (!fd.valid()) return fail("cannot copy a descriptor: {}", std::strerror(errno));
  return fd;
}

void refuse_kernel_surface(Filter& filter) {
  // Network: with no sockets there is nothing to connect, also where there is no network namespace.
  filter.refuse({"socket", "bind", "connect", "listen", "accept", "accept4"}, EPERM);
  refuse_kernel_surface_but_sockets(filter);
}

void refuse_kernel_surface_but_sockets(Filter& filter) {
  filter
      // Other processes.
      .refuse({"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
               "kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "move_pages", "migrate_pages"},
              EPERM)
      // Files reached without a path, mounts, roots.
      .refuse({"open_by_handle_at", "name_to_handle_at", "mount", "umount2", "pivot_root", "chroot",
               "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig", "fspick", "mount_setattr",
               "quotactl", "quotactl_fd", "fanotify_init", "fanotify_mark", "mknod", "mknodat"},
              EPERM)
      // Large parts of the kernel with a history of holes.
      .refuse({"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
               "io_uring_register", "add_key", "request_key", "keyctl", "kexec_load", "kexec_file_load",
               "init_module", "finit_module", "delete_module", "lookup_dcookie", "memfd_secret", "vmsplice"},
              EPERM)
      // The machine's state.
      .refuse({"reboot", "swapon", "swapoff", "acct", "settimeofday", "clock_settime", "clock_adjtime",
               "adjtimex", "syslog", "iopl", "ioperm", "vhangup", "sethostname", "setdomainname"},
              EPERM)
      // Namespaces: a fresh user namespace would open much of the above again. clone3 hides its flags in
      // memory; libc falls back to clone.
      .refuse({"unshare", "setns"}, EPERM)
      .refuse({"clone3"}, ENOSYS)
      // Text pushed into a terminal is run by whoever reads it.
      .refuse_if("ioctl", {{1, 0xffffffff, TIOCSTI}}, EPERM)
      .refuse_if("ioctl", {{1, 0xffffffff, 0x541C /* TIOCLINUX */}}, EPERM);
  for (std::uint64_t bit = 1; bit <= kNamespaces; bit <<= 1) {
    if (kNamespaces & bit & kWhole) filter.refuse_if("clone", {{0, bit, bit}}, EPERM);
  }
}

void refuse_signals_to_others(Filter& filter) {
  filter.refuse({"kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"}, EPERM);
}

std::string syscall_name(int number) {
  char* name = ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
  std::string text = name ? name : fmt::format("system call {}", number);
  std::free(name);
  return text;
}

}  // namespace kforge

// How the runner confines itself around dlopen. The filters come from the parent as BPF in a memfd
// (sandbox/profile_native.cc writes them).
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runner/runner_state.h"

namespace kforge::runner {

const char* install_filter(int fd) {
  if (fd < 0) return nullptr;
  struct stat info;
  if (fstat(fd, &info) != 0 || info.st_size <= 0) return "the system-call filter cannot be read";
  size_t size = static_cast<size_t>(info.st_size);
  void* code = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (code == MAP_FAILED) return "the system-call filter cannot be read";
  sock_fprog program{static_cast<unsigned short>(size / sizeof(sock_filter)),
                     static_cast<sock_filter*>(code)};
  // TSYNC: threads that a static initialiser started are confined too.
  // SPEC_ALLOW: older kernels otherwise slow filtered programs down, which would falsify timings.
  long failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
  munmap(code, size);
  close(fd);
  return failed == 0 ? nullptr : "the system-call filter cannot be installed";
}

// While the candidate loads, its static initialisers run and files can still be opened: but only its own one.
// Without this it could map any library of the system (a BLAS, say) as its own code.
const char* allow_only_candidate_file() {
#if defined(SYS_landlock_create_ruleset)
  if (runner_state.load_filter < 0) return nullptr;
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = (1ull << 13) - 1;  // everything Landlock's first version knows
  int ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  if (ruleset < 0) return nullptr;  // an older kernel: the mount table and the filters have to do
  for (const char* const* path = runner_state.readable; *path; ++path) {
    landlock_path_beneath_attr rule{};
    rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
    rule.parent_fd = open(*path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0) continue;
    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
  }
  long failed = syscall(SYS_landlock_restrict_self, ruleset, 0);
  close(ruleset);
  return failed == 0 ? nullptr : "Landlock rules cannot be enforced";
#else
  return nullptr;
#endif
}

}  // namespace kforge::runner

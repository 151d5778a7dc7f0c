// Landlock: the kernel lets a process give up, for itself and all that follow, every file but those listed.
// It needs no namespaces and no root, so it is what remains where user namespaces are forbidden.
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/launcher/steps.h"

namespace kforge::launcher {
namespace {

// Names newer than the system's headers, as the kernel's interface fixes them.
constexpr uint64_t kRefer = 1ull << 13, kTruncate = 1ull << 14, kIoctlDevice = 1ull << 15;
constexpr uint64_t kNetBind = 1ull << 0, kNetConnect = 1ull << 1;
constexpr uint64_t kScopeAbstractSocket = 1ull << 0, kScopeSignal = 1ull << 1;

struct RulesetAttributes {
  uint64_t files, net, scoped;
};

constexpr uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kAllVersion1 = (1ull << 13) - 1;
constexpr uint64_t kOnFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                              LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kIoctlDevice;
constexpr uint64_t kMakeDevices = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

int version() {
  return static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

uint64_t handled_files(int abi) {
  uint64_t handled = kAllVersion1;
  if (abi >= 2) handled |= kRefer;
  if (abi >= 3) handled |= kTruncate;
  if (abi >= 5) handled |= kIoctlDevice;
  return handled;
}

bool allow(int ruleset, const char* path, uint64_t access) {
  int fd = ::open(path, O_PATH | O_CLOEXEC);
  if (fd < 0) return false;
  struct stat info {};
  if (::fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode)) access &= kOnFiles;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = access;
  rule.parent_fd = fd;
  bool added = ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  ::close(fd);
  return added;
}

}  // namespace

int make_landlock_ruleset(const Plan& plan) {
  int abi = version();
  if (abi < 1) die(plan, "Landlock is not available");
  uint64_t handled = handled_files(abi);
  RulesetAttributes attributes{handled, abi >= 4 ? kNetBind | kNetConnect : 0,
                               abi >= 6 ? kScopeAbstractSocket | kScopeSignal : 0};
  size_t known = abi >= 6   ? sizeof attributes
                 : abi >= 4 ? offsetof(RulesetAttributes, scoped)
                            : sizeof(uint64_t);
  int ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, known, 0));
  if (ruleset < 0) die(plan, "cannot create a Landlock ruleset");

  for (char** path = plan.readable; *path; ++path) {
    bool device = (*path)[0] == '/' && (*path)[1] == 'd' && (*path)[2] == 'e' && (*path)[3] == 'v';
    uint64_t access = device ? kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kIoctlDevice : kRead;
    // Absent ones grant nothing; the program's own message about them is the clearest.
    if (!allow(ruleset, *path, access & handled) && errno != ENOENT)
      die(plan, "cannot allow reading of", *path);
  }
  if (plan.head->own_proc)
    allow(ruleset, "/proc/self", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);
  if (plan.writable[0] && !allow(ruleset, plan.writable, handled & ~kMakeDevices & ~kIoctlDevice))
    die(plan, "cannot allow writing in", plan.writable);
  return ruleset;
}

void enforce_landlock(const Plan& plan, int ruleset) {
  if (::syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) die(plan, "cannot enforce the Landlock rules");
}

}  // namespace kforge::launcher

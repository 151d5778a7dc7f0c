// What KForge tells kforge-launch, and what it hears back. Both ends are ours and built together; the program
// in the sandbox sees neither (both descriptors are closed before it starts).
//
// The plan is a memfd: one LaunchPlan, then NUL-terminated strings in this order: the wrapper's argv
// (bubblewrap; none in the other tiers), the program's argv, its environment, the folders and files it may
// read, the one it may write ("" for none).
//
// Descriptors of the launcher: 0 nothing, 1 and 2 the captured output, 3 .. 3+n-1 those of the program, then
// the control socket, the plan, the seccomp filter, the launcher's own file (bubblewrap copies it inside) and
// the program's file (executed by descriptor where its path is closed to the dropped uid).
#pragma once

#include <stdint.h>
#include <sys/resource.h>

namespace kforge {

inline constexpr uint32_t kLaunchPlanVersion = 2;
inline constexpr int kFirstProgramFd = 3;
inline constexpr int kMaxProgramFds = 64;
inline constexpr uint32_t kMaxCpus = 1024;
inline constexpr int kLauncherFailed = 125;  // exit code of the launcher itself

struct LaunchPlan {
  uint32_t version;
  uint32_t bytes;        // of the whole plan, strings included
  uint32_t program_fds;  // n
  uint32_t wrapper_argc, argc, envc, readable;
  uint8_t use_landlock;  // confine the program by Landlock (its launcher is then not in namespaces)
  uint8_t has_filter;
  uint8_t drop_privileges;  // as root: become an unallocated uid
  uint8_t limit_processes;
  uint8_t use_cgroup;
  uint8_t watch_memory;  // the sum over its processes, where no control group limits it
  uint8_t own_proc;      // Landlock: the program may read its own /proc/self
  uint8_t set_affinity;
  uint64_t cpus[kMaxCpus / 64];
  uint64_t memory_bytes, address_bytes, cpu_seconds, file_bytes, folder_bytes, processes, open_files;
  int64_t wall_ms;
};

inline int control_fd_of(const LaunchPlan& plan) {
  return kFirstProgramFd + static_cast<int>(plan.program_fds);
}
inline int plan_fd_of(const LaunchPlan& plan) { return control_fd_of(plan) + 1; }
inline int filter_fd_of(const LaunchPlan& plan) { return control_fd_of(plan) + 2; }
inline int self_fd_of(const LaunchPlan& plan) { return control_fd_of(plan) + 3; }
inline int program_file_fd_of(const LaunchPlan& plan) { return control_fd_of(plan) + 4; }

// Packets on the control socket. The kernel adds the sender's pid as the receiver sees it (SCM_CREDENTIALS),
// so host pids are right whatever namespaces lie between.
enum class LaunchEvent : uint32_t {
  kLimited = 5,  // sent first, by the supervisor: which control groups bind the program
  kStarted = 1,  // sent by the process that becomes the program
  kRunning = 2,  // sent by its parent once the program is executing
  kExited = 3,   // status and usage as the program's parent got them
  kFailed = 4,   // a step failed: text
};

struct LaunchReport {
  LaunchEvent event;
  int32_t status;  // of wait4(2)
  uint32_t wall_exceeded;
  uint32_t folder_exceeded;
  uint32_t memory_exceeded;  // by the sum of all its processes
  uint32_t left_processes;   // some were alive when the program ended
  uint32_t cgroups;          // 1: pids, 2: memory are limited by a cgroup
  rusage usage;
  char text[512];
};

}  // namespace kforge

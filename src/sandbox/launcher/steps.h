// The steps of kforge-launch. Each does one thing or ends the launcher with a report of what failed; main.cc
// shows their order. Only libc: the program is static, so that starting it costs little.
#pragma once

#include <sys/types.h>

#include "sandbox/launch_plan.h"

namespace kforge::launcher {

// The plan with its strings split out.
struct Plan {
  const LaunchPlan* head = nullptr;
  char** wrapper_argv = nullptr;
  char** argv = nullptr;
  char** env = nullptr;
  char** readable = nullptr;
  const char* writable = nullptr;

  int control() const { return control_fd_of(*head); }
};

// plan.cc
Plan read_plan(int fd);

// report.cc
void send_report(const Plan& plan, LaunchReport report);
// Tells KForge which step failed and why (errno), then ends this process.
[[noreturn]] void die(const Plan& plan, const char* step, const char* object = "");

// confine.cc: each narrows what this process and all that follow it may do.
void keep_only_known_fds(const Plan& plan);  // whatever KForge has open besides those of the plan is closed
void hide_launcher_fds(const Plan& plan);    // the program gets its own descriptors and no other
void give_writable_folder(const Plan& plan, uid_t uid);
void drop_to_unallocated_uid(const Plan& plan, uid_t uid);
void forbid_new_privileges(const Plan& plan);
void set_affinity(const Plan& plan);
void set_limits(const Plan& plan);
void install_filter(const Plan& plan);
uid_t unallocated_uid();

// landlock.cc: what may be opened is decided while paths can still be reached, enforced last.
int make_landlock_ruleset(const Plan& plan);
void enforce_landlock(const Plan& plan, int ruleset);

// cgroup.cc
struct Cgroups {
  char pids[512] = "";  // folder, empty where there is none
  char memory[512] = "";
  unsigned bits() const { return (pids[0] ? 1u : 0u) | (memory[0] ? 2u : 0u); }
};
Cgroups make_cgroups(const Plan& plan);
void join_cgroups(const Plan& plan, const Cgroups& groups);
void remove_cgroups(const Cgroups& groups);

// folder.cc: whether the program's folder holds more than it may.
bool folder_too_large(const Plan& plan);
// Whether what it started holds more, all together, than one process may.
bool memory_too_large(const Plan& plan);

// watch.cc
// Waits for `child` (the program), kills it at the wall limit or when KForge is gone, and reports how it
// ended.
void watch_program(const Plan& plan, pid_t child, bool memory);
pid_t parent_of(const char* pid);
// Waits for `wrapper`, kills it when KForge is gone or the limit has passed by far.
void watch_wrapper(const Plan& plan, pid_t wrapper);
// Kills every process that descends from this one, and (as root) every process of the program's uid.
void kill_leftovers(uid_t uid);

}  // namespace kforge::launcher

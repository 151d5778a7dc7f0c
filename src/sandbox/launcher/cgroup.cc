// Limits on the whole group of processes, where this process may create cgroups (as root, or in a delegated
// subtree): the number of tasks and the memory really used. rlimits bind each process; these bind their sum.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/launcher/steps.h"

namespace kforge::launcher {
namespace {

bool write_text(const char* folder, const char* file, const char* text) {
  char path[600];
  ::snprintf(path, sizeof path, "%s/%s", folder, file);
  int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t length = static_cast<ssize_t>(::strlen(text));
  bool written = ::write(fd, text, static_cast<size_t>(length)) == length;
  ::close(fd);
  return written;
}

bool write_number(const char* folder, const char* file, uint64_t number) {
  char text[32];
  ::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(number));
  return write_text(folder, file, text);
}

// Path of this process' own group, from the line "id:controllers:/path" of /proc/self/cgroup.
// Version 2 has the line with no controllers.
bool own_group(const char* controllers, char* path, size_t room) {
  FILE* file = ::fopen("/proc/self/cgroup", "re");
  if (!file) return false;
  char line[400];
  bool found = false;
  while (!found && ::fgets(line, sizeof line, file)) {
    line[::strcspn(line, "\n")] = 0;
    char* names = ::strchr(line, ':');
    char* own = names ? ::strchr(names + 1, ':') : nullptr;
    if (!own) continue;
    *own = 0;
    found = ::strcmp(names + 1, controllers) == 0;
    if (found) ::snprintf(path, room, "%s", own + 1);
  }
  ::fclose(file);
  return found;
}

// A launcher that was killed leaves its empty group behind; the next one takes it away.
void remove_stale_groups(const char* parent) {
  DIR* folder = ::opendir(parent);
  while (dirent* entry = folder ? ::readdir(folder) : nullptr) {
    int launcher = 0;
    if (::sscanf(entry->d_name, "kforge-%d", &launcher) != 1 || launcher <= 0) continue;
    if (::kill(launcher, 0) != 0 && errno == ESRCH) ::unlinkat(::dirfd(folder), entry->d_name, AT_REMOVEDIR);
  }
  if (folder) ::closedir(folder);
}

bool make_group(const char* parent, char* folder, size_t room) {
  remove_stale_groups(parent);
  ::snprintf(folder, room, "%s/kforge-%d", parent, ::getpid());
  if (::mkdir(folder, 0755) == 0) return true;
  if (errno == EEXIST && ::rmdir(folder) == 0 && ::mkdir(folder, 0755) == 0) return true;  // left by a crash
  folder[0] = 0;
  return false;
}

// Version 1: each controller has its own hierarchy.
void limit_v1(const char* controller, const char* file, uint64_t limit, char* folder, size_t room) {
  char path[400], parent[440];
  if (!own_group(controller, path, sizeof path)) return;
  ::snprintf(parent, sizeof parent, "/sys/fs/cgroup/%s%s", controller, path);
  if (!make_group(parent, folder, room) || write_number(folder, file, limit)) return;
  ::rmdir(folder);
  folder[0] = 0;
}

// Version 2: one folder for both, usable where the parent group has the controllers enabled for its children.
void limit_v2(const LaunchPlan& head, Cgroups& groups) {
  char path[400], parent[440], folder[sizeof groups.pids];
  if (!own_group("", path, sizeof path)) return;
  ::snprintf(parent, sizeof parent, "/sys/fs/cgroup%s", path);
  if (!make_group(parent, folder, sizeof folder)) return;
  bool pids = write_number(folder, "pids.max", head.processes);
  bool memory = write_number(folder, "memory.max", head.memory_bytes);
  if (memory) write_text(folder, "memory.swap.max", "0");
  if (pids) ::strcpy(groups.pids, folder);
  if (memory) ::strcpy(groups.memory, folder);
  if (!pids && !memory) ::rmdir(folder);
}

void join(const Plan& plan, const char* folder) {
  if (folder[0] && !write_text(folder, "cgroup.procs", "0"))
    die(plan, "cannot enter the control group", folder);
}

void remove(const char* folder) {
  // The kernel frees the last task a moment after it was reaped.
  for (int attempt = 0; folder[0] && ::rmdir(folder) != 0 && errno == EBUSY && attempt < 1000; ++attempt)
    ::usleep(500);
}

}  // namespace

Cgroups make_cgroups(const Plan& plan) {
  Cgroups groups;
  if (!plan.head->use_cgroup) return groups;
  limit_v1("pids", "pids.max", plan.head->processes, groups.pids, sizeof groups.pids);
  limit_v1("memory", "memory.limit_in_bytes", plan.head->memory_bytes, groups.memory, sizeof groups.memory);
  if (groups.bits() == 0) limit_v2(*plan.head, groups);
  return groups;
}

void join_cgroups(const Plan& plan, const Cgroups& groups) {
  join(plan, groups.pids);
  if (::strcmp(groups.pids, groups.memory) != 0) join(plan, groups.memory);
}

void remove_cgroups(const Cgroups& groups) {
  remove(groups.pids);
  if (::strcmp(groups.pids, groups.memory) != 0) remove(groups.memory);
}

}  // namespace kforge::launcher

// What the program holds together with all that it started. The kernel limits each process; where no control
// group limits their sum, the watcher adds it up from time to time.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sandbox/launcher/steps.h"

namespace kforge::launcher {
namespace {

struct Process {
  pid_t pid, parent;
  bool ours;
};
constexpr size_t kMostProcesses = 8192;
Process processes[kMostProcesses];  // 100 kB that nobody touches where control groups do the work

// Resident memory that it shares with nobody, from /proc/PID/statm: "size resident shared ...".
uint64_t private_bytes(pid_t pid) {
  char path[64];
  ::snprintf(path, sizeof path, "/proc/%d/statm", pid);
  FILE* file = ::fopen(path, "re");
  if (!file) return 0;
  unsigned long long size = 0, resident = 0, shared = 0;
  int read = ::fscanf(file, "%llu %llu %llu", &size, &resident, &shared);
  ::fclose(file);
  if (read != 3 || resident < shared) return 0;
  return (resident - shared) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

size_t read_processes() {
  DIR* proc = ::opendir("/proc");
  size_t count = 0;
  while (dirent* entry = proc ? ::readdir(proc) : nullptr) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || count == kMostProcesses) continue;
    processes[count++] = {::atoi(entry->d_name), parent_of(entry->d_name), false};
  }
  if (proc) ::closedir(proc);
  return count;
}

}  // namespace

bool memory_too_large(const Plan& plan) {
  const size_t count = read_processes();
  const pid_t self = ::getpid();
  uint64_t sum = 0;
  for (bool found = true; found;) {  // children, then theirs
    found = false;
    for (size_t i = 0; i < count; ++i) {
      Process& process = processes[i];
      bool below = process.parent == self;
      for (size_t j = 0; !below && j < count; ++j)
        below = processes[j].ours && processes[j].pid == process.parent;
      if (process.ours || !below) continue;
      process.ours = found = true;
      sum += private_bytes(process.pid);
    }
  }
  return sum > plan.head->memory_bytes;
}

}  // namespace kforge::launcher

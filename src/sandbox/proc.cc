#include "sandbox/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"

namespace kforge {
namespace {

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

struct Stat {
  char state = 'X';
  pid_t parent = 0;
};

// "pid (name) state ppid ...": the name may contain anything, also brackets; the last one ends it.
Stat read_stat(int folder, const char* path) {
  Stat stat;
  Fd fd(::openat(folder, path, O_RDONLY | O_CLOEXEC));
  char text[512];
  ssize_t length = fd.valid() ? ::read(fd.get(), text, sizeof text - 1) : -1;
  if (length <= 0) return stat;
  text[length] = 0;
  const char* name_end = std::strrchr(text, ')');
  if (!name_end || std::strlen(name_end) < 5) return stat;
  stat.state = name_end[2];
  stat.parent = std::atoi(name_end + 4);
  return stat;
}

bool is_number(const char* name) { return name[0] >= '1' && name[0] <= '9'; }

}  // namespace

Tasks tasks_of(pid_t process) {
  Tasks tasks;
  Dir folder(::opendir(("/proc/" + std::to_string(process) + "/task").c_str()));
  if (!folder) return tasks;
  while (dirent* entry = ::readdir(folder.get())) {
    if (!is_number(entry->d_name)) continue;
    tasks.all.push_back(std::atoi(entry->d_name));
    char state = read_stat(::dirfd(folder.get()), (std::string(entry->d_name) + "/stat").c_str()).state;
    if (!std::strchr("TtZXx", state)) tasks.running.push_back(tasks.all.back());
  }
  return tasks;
}

int count_descendants(pid_t process, pid_t except) {
  Dir proc(::opendir("/proc"));
  if (!proc) return 0;
  std::multimap<pid_t, pid_t> children;
  while (dirent* entry = ::readdir(proc.get())) {
    if (!is_number(entry->d_name)) continue;
    Stat stat = read_stat(::dirfd(proc.get()), (std::string(entry->d_name) + "/stat").c_str());
    if (!std::strchr("ZXx", stat.state)) children.emplace(stat.parent, std::atoi(entry->d_name));
  }
  int count = 0;
  std::vector<pid_t> open{process};
  while (!open.empty()) {
    pid_t parent = open.back();
    open.pop_back();
    auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      open.push_back(child->second);
      if (child->second != except) ++count;
    }
  }
  return count;
}

unsigned count_tasks_of(uid_t user) {
  unsigned count = 0;
  Dir proc(::opendir("/proc"));
  while (dirent* entry = proc ? ::readdir(proc.get()) : nullptr) {
    struct stat info {};
    std::string tasks = std::string(entry->d_name) + "/task";
    if (!is_number(entry->d_name) || ::fstatat(::dirfd(proc.get()), tasks.c_str(), &info, 0) != 0) continue;
    if (info.st_uid == user && info.st_nlink > 2) count += static_cast<unsigned>(info.st_nlink - 2);
  }
  return count;
}

}  // namespace kforge

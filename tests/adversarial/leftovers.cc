#include "adversarial/leftovers.h"

#include <fmt/core.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <map>
#include <thread>

namespace kforge {
namespace {

namespace fs = std::filesystem;

int count_descriptors() {
  std::error_code ec;
  int count = 0;
  for (fs::directory_iterator at("/proc/self/fd", ec), end; !ec && at != end; at.increment(ec)) ++count;
  return count;
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// Parent of a process: the second field after the closing bracket of its name in /proc/PID/stat.
int parent_of(int pid) {
  std::string stat = first_line(fmt::format("/proc/{}/stat", pid));
  auto bracket = stat.rfind(')');
  int parent = 0;
  char state = 0;
  if (bracket == std::string::npos || std::sscanf(stat.c_str() + bracket + 1, " %c %d", &state, &parent) != 2)
    return 0;
  return parent;
}

// Control groups of the sandbox are called kforge-PID after their launcher.
std::set<std::string> sandbox_groups() {
  std::set<std::string> found;
  std::error_code ec;
  auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at("/sys/fs/cgroup", options, ec), end; !ec && at != end;
       at.increment(ec)) {
    std::string name = at->path().filename().string();
    if (at->is_directory(ec) && name.starts_with("kforge-")) found.insert(at->path().string());
  }
  return found;
}

bool launcher_is_gone(const fs::path& group) {
  return !fs::exists("/proc/" + group.filename().string().substr(7));
}

}  // namespace

std::vector<FoundProcess> descendants() {
  std::map<int, int> parents;
  std::error_code ec;
  for (fs::directory_iterator at("/proc", ec), end; !ec && at != end; at.increment(ec))
    if (int pid = std::atoi(at->path().filename().c_str()); pid > 0) parents[pid] = parent_of(pid);
  std::vector<FoundProcess> found;
  for (auto [pid, parent] : parents)
    for (int up = parent; up > 1; up = parents.contains(up) ? parents[up] : 0)
      if (up == ::getpid()) {
        found.push_back({pid, first_line(fmt::format("/proc/{}/comm", pid))});
        break;
      }
  return found;
}

LeftoverWatch::LeftoverWatch(const fs::path& temporary)
    : temporary_(temporary), descriptors_before_(count_descriptors()), groups_before_(sandbox_groups()) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::setenv("TMPDIR", temporary.c_str(), 1);
}

std::vector<std::string> LeftoverWatch::look(const std::vector<std::string>& forbidden_files) const {
  std::vector<std::string> found;
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {  // orphans that have ended are nobody else's to take away
  }
  for (const FoundProcess& process : descendants())
    found.push_back(fmt::format("process {} ({})", process.pid, process.command));
  std::error_code ec;
  for (fs::directory_iterator at(temporary_, ec), end; !ec && at != end; at.increment(ec))
    found.push_back("temporary " + at->path().string());
  // One that was there before may lose its launcher at any moment: that of a test before, which was killed.
  for (const std::string& group : sandbox_groups())
    if (!groups_before_.contains(group) && launcher_is_gone(group)) found.push_back("control group " + group);
  for (const std::string& file : forbidden_files)
    if (fs::exists(file)) found.push_back("file " + file);
  // A process keeps its system-call filters and the like; a leak is more than that.
  constexpr int kKept = 8;
  if (int now = count_descriptors(); now > descriptors_before_ + kKept)
    found.push_back(fmt::format("{} open descriptors more than before", now - descriptors_before_));
  return found;
}

std::vector<std::string> LeftoverWatch::found(const std::vector<std::string>& forbidden_files) const {
  std::vector<std::string> last;
  for (int attempt = 0; attempt < 20; ++attempt) {
    last = look(forbidden_files);
    if (last.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return last;
}

}  // namespace kforge

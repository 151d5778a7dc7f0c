#include "execute/thread_times.h"

#include <dirent.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

namespace kforge {
namespace {

// The first two numbers of a schedstat file, in nanoseconds.
ThreadTimes read_schedstat(const std::string& path) {
  std::ifstream file(path);
  ThreadTimes times;
  return file >> times.ran_ns >> times.waited_ns ? times : ThreadTimes{};
}

}  // namespace

std::map<pid_t, ThreadTimes> thread_times(pid_t process) {
  std::map<pid_t, ThreadTimes> times;
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir(folder.c_str()), ::closedir);
  if (!tasks) return times;
  while (const dirent* entry = ::readdir(tasks.get()))
    if (const int thread = std::atoi(entry->d_name); thread > 0)
      times[thread] = read_schedstat(folder + "/" + entry->d_name + "/schedstat");
  return times;
}

double longest_wait_ns(const std::map<pid_t, ThreadTimes>& times) {
  double longest = 0;
  for (const auto& [thread, time] : times) longest = std::max(longest, time.waited_ns);
  return longest;
}

TeamTimes team_times(const std::map<pid_t, ThreadTimes>& before, const std::map<pid_t, ThreadTimes>& after) {
  constexpr double kNoPartOfTheWork = 0.05;  // of what the busiest thread ran
  std::map<pid_t, ThreadTimes> between;
  double longest = 0;
  for (const auto& [thread, now] : after) {
    const auto then = before.find(thread);
    const ThreadTimes start = then == before.end() ? ThreadTimes{} : then->second;
    between[thread] = {now.ran_ns - start.ran_ns, now.waited_ns - start.waited_ns};
    longest = std::max(longest, between[thread].ran_ns);
  }
  TeamTimes team;
  for (const auto& [thread, times] : between) {
    if (times.ran_ns <= kNoPartOfTheWork * longest) continue;
    ++team.computing;
    team.longest_wait_ns = std::max(team.longest_wait_ns, times.waited_ns);
  }
  return team;
}

}  // namespace kforge

// What the kernel's books say of the threads of a process: who computed, and who waited for a processor.
#pragma once

#include <sys/types.h>

#include <map>

namespace kforge {

struct ThreadTimes {
  double ran_ns = 0;
  double waited_ns = 0;  // ready to run, and no processor free
};

// By thread. Empty where the system does not tell. Read it while the process is stopped.
std::map<pid_t, ThreadTimes> thread_times(pid_t process);

double longest_wait_ns(const std::map<pid_t, ThreadTimes>& times);

// Between two readings.
struct TeamTimes {
  int computing = 0;           // threads that ran for more than a twentieth of the one that ran longest
  double longest_wait_ns = 0;  // of any one of them: a team is as late as its last thread
};
TeamTimes team_times(const std::map<pid_t, ThreadTimes>& before, const std::map<pid_t, ThreadTimes>& after);

}  // namespace kforge

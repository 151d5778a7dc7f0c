// What /proc says about processes of ours.
#pragma once

#include <sys/types.h>

#include <vector>

namespace kforge {

// The threads of a process, and those of them that are neither stopped nor ended. One that is gone has none.
struct Tasks {
  std::vector<pid_t> all, running;
};
Tasks tasks_of(pid_t process);

// Living processes below this one, at any depth, without counting `except` itself.
int count_descendants(pid_t process, pid_t except);

// Tasks (threads) of all processes of a user.
unsigned count_tasks_of(uid_t user);

}  // namespace kforge

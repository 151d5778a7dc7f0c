// What /proc says about processes of ours.
#pragma once

#include <sys/types.h>

namespace kforge {

// Every thread is stopped (or ended). A process that is gone counts as stopped.
bool all_tasks_stopped(pid_t process);
// Living processes below this one, at any depth, without counting `except` itself.
int count_descendants(pid_t process, pid_t except);

// Tasks (threads) of all processes of a user.
unsigned count_tasks_of(uid_t user);

}  // namespace kforge

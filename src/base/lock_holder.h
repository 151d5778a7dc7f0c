// Who holds a FileLock, so that somebody else can ask that process to end. The holder notes itself in the
// locked file; nothing is believed that is not true now: the lock is held, and the process with that number
// began when it was noted and belongs to this user. A number that the kernel gave to another process since is
// therefore never sent a signal.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace kforge {

// REQUIRES: this process holds the lock of `file`. Where it cannot be written the holder stays unknown.
void note_lock_holder(const std::filesystem::path& file);

// Whether there is one that interrupt_lock_holder() would reach.
bool knows_lock_holder(const std::filesystem::path& file);

// As Ctrl-C in its terminal. An Error: nobody holds the lock, or it is not known who does.
Result<void> interrupt_lock_holder(const std::filesystem::path& file);

}  // namespace kforge

// Ctrl-C and SIGTERM: every process this one started is killed, temporary folders are removed, exit code 130.
#pragma once

namespace kforge {

// From now on. Cheap; safe to call more than once.
void clean_up_on_interrupt();

}  // namespace kforge

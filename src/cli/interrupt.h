// Ctrl-C and SIGTERM: every process this one started is killed, temporary folders are removed, exit code 130.
#pragma once

#include <stop_token>

namespace kforge {

// From now on. Cheap; safe to call more than once.
void clean_up_on_interrupt();

// The gentle way, for work that has something to show when it is cut short: from the call of stop_gently() on
// the first signal asks for a stop, the second one does as above. Before that there is nothing to lose, and
// the first one does so too. Includes clean_up_on_interrupt(). `words`: what the user is told then.
std::stop_token stop_on_interrupt();
void stop_gently(const char* words = "stopping with the best so far");

}  // namespace kforge

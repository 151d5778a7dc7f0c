// kforge-device --call PACKAGE TENSORS: the program a few times, for profilers that start what they look at.
#pragma once

namespace kforge {

// TENSORS is the text file that kforge-call is given too (profile/caller/plan.h): one line for each tensor,
// "param|input|inout|output OFFSET BYTES" in the file of descriptor 3. The exit code.
int call_alone(const char* package, const char* tensors);

}  // namespace kforge

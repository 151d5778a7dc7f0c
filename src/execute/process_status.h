// Lines of /proc/PID/status.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>

namespace kforge {

// One such as "VmHWM:   1234 kB", in bytes; 0 where there is none.
std::size_t status_bytes(pid_t pid, std::string_view field);

}  // namespace kforge

#include "execute/process_status.h"

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace kforge {

std::size_t status_bytes(pid_t pid, std::string_view field) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field)) return std::strtoull(line.c_str() + field.size() + 1, nullptr, 10) * 1024;
  return 0;
}

}  // namespace kforge

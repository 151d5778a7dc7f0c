// The file whose lock the process that works on a run holds, and in which it notes itself
// (base/lock_holder.h).
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace kforge {

inline std::filesystem::path run_lock_file(const std::filesystem::path& home, std::string_view run) {
  return home / "locks" / fmt::format("run-{}", run);
}

}  // namespace kforge

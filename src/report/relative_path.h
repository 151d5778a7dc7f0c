// Paths as a reader types them.
#pragma once

#include <filesystem>
#include <string>

namespace kforge {

// `absolute` seen from the folder `from`; one far away stays as it is.
inline std::string relative_to(const std::string& absolute, const std::filesystem::path& from) {
  std::string relative = std::filesystem::path(absolute).lexically_relative(from).string();
  return relative.empty() || relative.starts_with("../..") ? absolute : relative;
}

}  // namespace kforge

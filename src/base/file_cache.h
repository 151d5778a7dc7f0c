// A folder of files named by the hash of what produced them. Safe for several processes at once: an entry
// appears whole or not at all. Least recently used entries go first when the folder exceeds its size.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace kforge {

class FileCache {
 public:
  // The folder is made on first use; limit_bytes == 0 means no limit.
  FileCache(fs::path folder, std::size_t limit_bytes) : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  // Path of the entry, its use time refreshed; nothing when absent. An unreadable entry counts as absent.
  std::optional<fs::path> find(std::string_view key) const;
  // Content of the entry; nothing when absent or when its checksum no longer fits (the entry is then removed).
  std::optional<std::string> load(std::string_view key) const;
  // Stores and returns the path. A cache that cannot be written is an error the caller may ignore.
  Result<fs::path> store(std::string_view key, std::string_view content);

 private:
  fs::path path_of(std::string_view key) const { return folder_ / key.substr(0, 2) / key; }
  void evict() const;

  fs::path folder_;
  std::size_t limit_bytes_;
};

}  // namespace kforge

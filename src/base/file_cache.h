// A folder of files named by the hash of what produced them. Safe for several processes at once: an entry
// appears whole or not at all. Least recently used entries go first when the folder exceeds its size.
//
// Entry: <folder>/<first two letters of key>/<key>.<SHA-256 of the content>, its content plain, so that the
// file can be handed to dlopen or another program as it is. The checksum is in the name because one rename
// then publishes both. The use time is the file's modification time.
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
  // The folder is made on first use; limit_bytes == 0 means no limit. The size is looked at after some of the
  // stores only (each large one, one in sixteen of the others): between them it may be exceeded somewhat.
  FileCache(fs::path folder, std::size_t limit_bytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  // Path of the entry, its use time refreshed; nothing when absent. An unreadable entry counts as absent.
  // The content is not read: whoever needs it checked calls load().
  std::optional<fs::path> find(std::string_view key) const;
  // Content of the entry; nothing when absent or when its checksum no longer fits (the entry is then
  // removed).
  std::optional<std::string> load(std::string_view key) const;
  // Stores and returns the path. A cache that cannot be written is an error the caller may ignore.
  // REQUIRES: key has at least three characters, all letters, digits, '-' or '_'.
  Result<fs::path> store(std::string_view key, std::string_view content);
  // Removes least recently used entries until nine tenths of the limit are kept, and what writers that died
  // left.
  void evict() const;

 private:
  fs::path bucket_of(std::string_view key) const { return folder_ / key.substr(0, 2); }

  fs::path folder_;
  std::size_t limit_bytes_;
};

}  // namespace kforge

// Whole-file reads and writes, temporary folders, and where KForge keeps things.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace kforge {

namespace fs = std::filesystem;

// Refuses files larger than `limit` bytes, so that a hostile file cannot exhaust memory.
Result<std::string> read_file(const fs::path& path, std::size_t limit = std::size_t{1} << 31);

// For files of a TempDir, which need not outlive a crash.
Result<void> write_scratch_file(const fs::path& path, std::string_view content);

// Written to a temporary name beside `path`, flushed, then renamed: a reader sees the old file or the whole
// new one, also after a crash or on a full disk.
Result<void> write_file_atomic(const fs::path& path, std::string_view content, int mode = 0644);

// A fresh folder under the system's temporary folder, removed with its content when this object dies; if the
// process is killed before, by the next one that makes a folder.
class TempDir {
 public:
  TempDir() = default;
  TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  TempDir& operator=(TempDir&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~TempDir();

  // `mode` is the folder's permission: 0755 when an unprivileged child must read it.
  static Result<TempDir> create(int mode = 0700);
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  Fd lock_;
};

// A file whose lock this process holds while the object lives. The lock goes with the process, also when that
// is killed; programs that are started do not inherit it.
class FileLock {
 public:
  // Nothing: another process, or another object of this one, holds it. The file is made where it is missing.
  // `shared`: any number of processes may hold it at once, as long as nobody holds it alone.
  static Result<std::optional<FileLock>> take(const fs::path& path, bool shared = false);
  // Whether somebody holds it now.
  static bool held(const fs::path& path);

 private:
  explicit FileLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

// Removes every TempDir that is alive now: for the way out that runs no destructors (a signal).
void remove_live_temp_dirs();
// Removes the folders that processes of this user left when they were killed: how many.
std::size_t remove_abandoned_temp_dirs();

// $KFORGE_HOME, else $XDG_DATA_HOME/kforge, else ~/.local/share/kforge; created with mode 0700.
Result<fs::path> kforge_home();

// Folder that holds platforms/, tasks/, prompts/, python/: $KFORGE_DATA, else beside the installed binary
// (<prefix>/share/kforge), else the source tree the binary was built from.
Result<fs::path> data_root();

// A helper program such as "kforge-runner": beside the kforge binary, else <prefix>/libexec/kforge.
Result<fs::path> helper_program(std::string_view name);

}  // namespace kforge

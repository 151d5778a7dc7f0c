#include "base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>

#include "base/fd.h"

namespace kforge {
namespace {

Result<void> write_all(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return std::unexpected(Error{fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)),
                                   errno == ENOSPC ? "free some disk space and run the command again" : ""});
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

constexpr std::string_view kTempPrefix = "kforge-tmp-";

// A folder is in use as long as its maker holds the lock on it, which ends with the process, however that
// dies. Younger ones may be about to be locked.
constexpr auto kLeastAge = std::chrono::seconds(10);

// Never destroyed: a TempDir may die after main().
struct LiveTempDirs {
  std::mutex mutex;
  std::set<fs::path> paths;
};
LiveTempDirs& live_temp_dirs() {
  static auto* live = new LiveTempDirs;
  return *live;
}

fs::path binary_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::size_t limit) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return fail("cannot read {}: {}", path.string(), std::strerror(errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail("cannot read {}: {}", path.string(), std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return fail("cannot read {}: it is a folder", path.string());
  std::string content;
  content.reserve(std::min<std::size_t>(static_cast<std::size_t>(info.st_size) + 1, limit));
  char buffer[1 << 16];
  for (;;) {
    ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail("cannot read {}: {}", path.string(), std::strerror(errno));
    if (n == 0) return content;
    if (content.size() + static_cast<std::size_t>(n) > limit)
      return fail("{} is larger than the limit of {} bytes", path.string(), limit);
    content.append(buffer, static_cast<std::size_t>(n));
  }
}

Result<void> write_scratch_file(const fs::path& path, std::string_view content) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd.valid()) return fail("cannot create {}: {}", path.string(), std::strerror(errno));
  KF_TRY_VOID(write_all(fd.get(), content, path));
  if (::fchmod(fd.get(), 0644) != 0) return fail("cannot write {}: {}", path.string(), std::strerror(errno));
  return {};
}

Result<void> write_file_atomic(const fs::path& path, std::string_view content, int mode) {
  std::string temporary = path.string() + ".tmp-XXXXXX";
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid())
    return fail("cannot create a file in {}: {}", path.parent_path().string(), std::strerror(errno));
  auto written = write_all(fd.get(), content, path);
  if (written && (::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0 || ::fdatasync(fd.get()) != 0))
    written = fail("cannot write {}: {}", path.string(), std::strerror(errno));
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = fail("cannot write {}: {}", path.string(), std::strerror(errno));
  if (!written) ::unlink(temporary.c_str());
  return written;
}

TempDir::~TempDir() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  std::lock_guard lock(live_temp_dirs().mutex);
  live_temp_dirs().paths.erase(path_);
}

void remove_live_temp_dirs() {
  std::lock_guard lock(live_temp_dirs().mutex);
  std::error_code ignored;
  for (const fs::path& path : live_temp_dirs().paths) fs::remove_all(path, ignored);
}

Result<TempDir> TempDir::create(int mode) {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) return fail("no usable temporary folder: {}", error.message());
  static std::once_flag once;
  std::call_once(once, [] { remove_abandoned_temp_dirs(); });
  std::string name = (parent / fmt::format("{}XXXXXX", kTempPrefix)).string();
  if (!::mkdtemp(name.data()))
    return fail("cannot create a folder in {}: {}", parent.string(), std::strerror(errno));
  TempDir dir;
  dir.path_ = name;
  dir.lock_ = Fd(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir.lock_.valid() || ::flock(dir.lock_.get(), LOCK_SH) != 0)
    return fail("cannot lock {}: {}", name, std::strerror(errno));
  {
    std::lock_guard lock(live_temp_dirs().mutex);
    live_temp_dirs().paths.insert(dir.path_);
  }
  if (::chmod(name.c_str(), static_cast<mode_t>(mode)) != 0)
    return fail("cannot set permissions of {}: {}", name, std::strerror(errno));
  return dir;
}

std::size_t remove_abandoned_temp_dirs() {
  std::size_t removed = 0;
  std::error_code ignored;
  fs::directory_iterator entry(fs::temp_directory_path(ignored), ignored), end;
  for (; entry != end; entry.increment(ignored)) {
    if (!entry->path().filename().string().starts_with(kTempPrefix)) continue;
    struct stat info {};
    if (::lstat(entry->path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid())
      continue;
    auto made = std::chrono::system_clock::from_time_t(info.st_mtime);
    if (std::chrono::system_clock::now() - made < kLeastAge) continue;
    Fd folder(::open(entry->path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!folder.valid() || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
    removed += fs::remove_all(entry->path(), ignored) > 0;
  }
  return removed;
}

Result<std::optional<FileLock>> FileLock::take(const fs::path& path, bool shared) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return fail("cannot open {}: {}", path.string(), std::strerror(errno));
  if (::flock(fd.get(), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return FileLock(std::move(fd));
  if (errno == EWOULDBLOCK) return std::nullopt;
  return fail("cannot lock {}: {}", path.string(), std::strerror(errno));
}

bool FileLock::held(const fs::path& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  return fd.valid() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<fs::path> kforge_home() {
  fs::path home;
  if (const char* own = std::getenv("KFORGE_HOME"); own && *own) {
    home = own;
  } else if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) {
    home = fs::path(data) / "kforge";
  } else if (const char* user = std::getenv("HOME"); user && *user) {
    home = fs::path(user) / ".local/share/kforge";
  } else {
    return fail_with_remedy("set KFORGE_HOME to a folder that KForge may write",
                            "no place for KForge's store: neither KFORGE_HOME nor HOME is set");
  }
  std::error_code error;
  if (!fs::exists(home, error)) {
    fs::create_directories(home, error);
    if (!error) fs::permissions(home, fs::perms::owner_all, error);
  }
  if (error || ::access(home.c_str(), R_OK | X_OK) != 0)
    return fail_with_remedy("set KFORGE_HOME to a folder that KForge may write",
                            fmt::format("cannot use {} for KForge's store: {}", home.string(),
                                        error ? error.message() : std::strerror(errno)));
  return home;
}

Result<fs::path> data_root() {
  std::error_code ignored;
  if (const char* own = std::getenv("KFORGE_DATA"); own && *own) {
    if (fs::is_directory(own, ignored)) return fs::path(own);
    return fail_with_remedy("set it to the folder that has platforms/ and tasks/, or unset it",
                            fmt::format("KFORGE_DATA: there is no folder {}", own));
  }
  fs::path installed = binary_folder().parent_path() / "share/kforge";
  if (fs::exists(installed / "platforms", ignored)) return installed;
  fs::path source = KFORGE_SOURCE_TREE;
  if (fs::exists(source / "platforms", ignored)) return source;
  return fail_with_remedy("set KFORGE_DATA to the folder that has platforms/ and tasks/",
                          "KForge's data folders were not found");
}

Result<fs::path> helper_program(std::string_view name) {
  fs::path folder = binary_folder();
  for (const fs::path& path : {folder / name, folder.parent_path() / "libexec/kforge" / name}) {
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return fail_with_remedy("build or install KForge again",
                          fmt::format("the helper program {} was not found beside the kforge binary", name));
}

}  // namespace kforge

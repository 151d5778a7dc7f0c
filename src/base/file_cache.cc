#include "base/file_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <vector>

#include "base/hash.h"

namespace kforge {
namespace {

constexpr std::size_t kChecksumLetters = 64;
// A writer's temporary file older than this belongs to a process that died.
constexpr auto kAbandonedAfter = std::chrono::hours(1);
// Another value of a key that was found or stored as lately as this may be read or copied right now.
constexpr auto kPerhapsInUse = std::chrono::minutes(10);

bool good_key(std::string_view key) {
  return key.size() >= 3 && std::all_of(key.begin(), key.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '-' || c == '_';
         });
}

std::string checksum_in_name(const fs::path& path) {
  std::string name = path.filename().string();
  return name.size() > kChecksumLetters ? name.substr(name.size() - kChecksumLetters) : "";
}

// Name of a finished entry of this key. Temporary names have more letters after the checksum.
bool is_entry_of(std::string_view name, std::string_view key) {
  return name.size() == key.size() + 1 + kChecksumLetters && name.starts_with(key) && name[key.size()] == '.';
}

// The value of the key that was used last.
std::optional<fs::path> entry_of(const fs::path& bucket, std::string_view key) {
  std::optional<fs::path> newest;
  fs::file_time_type newest_used;
  std::error_code error;
  for (fs::directory_iterator it(bucket, error), end; !error && it != end; it.increment(error)) {
    if (!is_entry_of(it->path().filename().native(), key) || ::access(it->path().c_str(), R_OK) != 0)
      continue;
    std::error_code gone;
    const auto used = it->last_write_time(gone);
    if (gone || (newest && used <= newest_used)) continue;
    newest = it->path();
    newest_used = used;
  }
  return newest;
}

// Used now; finer than the clock that the kernel stamps files with, so that the newest of two is known.
void touch(const fs::path& path) {
  timespec now[2];
  ::clock_gettime(CLOCK_REALTIME, &now[0]);
  now[1] = now[0];
  ::utimensat(AT_FDCWD, path.c_str(), now, 0);
}

struct Entry {
  fs::path path;
  std::uintmax_t bytes;
  fs::file_time_type used;
};

// Every file below the folder. Files that vanish meanwhile (another process evicts too) are passed over.
std::vector<Entry> list_entries(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (!it->is_regular_file(gone) || gone) continue;
    Entry entry{it->path(), it->file_size(gone), {}};
    if (!gone) entry.used = it->last_write_time(gone);
    if (!gone) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

std::optional<fs::path> FileCache::find(std::string_view key) const {
  KF_CHECK(good_key(key), "bad cache key '{}'", key);
  auto path = entry_of(bucket_of(key), key);
  if (path) touch(*path);
  return path;
}

std::optional<std::string> FileCache::load(std::string_view key) const {
  // More than one round only when an entry was damaged and another process stored the key with other content.
  while (auto path = find(key)) {
    auto content = read_file(*path);
    if (content && sha256_hex(*content) == checksum_in_name(*path)) return std::move(*content);
    std::error_code error;
    if (!fs::remove(*path, error) || error) return std::nullopt;
  }
  return std::nullopt;
}

Result<fs::path> FileCache::store(std::string_view key, std::string_view content) {
  KF_CHECK(good_key(key), "bad cache key '{}'", key);
  fs::path bucket = bucket_of(key);
  std::error_code error;
  fs::create_directories(bucket, error);
  if (error) return fail("cannot create the cache folder {}: {}", bucket.string(), error.message());
  std::string checksum = sha256_hex(content);
  fs::path path = bucket / fmt::format("{}.{}", key, checksum);
  KF_TRY_VOID(write_file_atomic(path, content));
  touch(path);
  // An older value of the same key, damaged or made differently, is not found any more. It goes when no other
  // process can have been handed its path a moment ago.
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(bucket, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (it->path() == path || !is_entry_of(it->path().filename().native(), key)) continue;
    if (const auto used = it->last_write_time(gone); !gone && now - used > kPerhapsInUse)
      fs::remove(it->path(), gone);
  }
  if (limit_bytes_ != 0 && (content.size() > limit_bytes_ / 64 || checksum[0] == '0')) evict();
  return path;
}

void FileCache::evict() const {
  std::vector<Entry> entries = list_entries(folder_);
  auto now = fs::file_time_type::clock::now();
  std::uintmax_t total = 0;
  std::error_code ignored;
  std::erase_if(entries, [&](const Entry& entry) {
    bool temporary = entry.path.filename().native().find(".tmp-") != std::string::npos;
    if (temporary && now - entry.used > kAbandonedAfter) fs::remove(entry.path, ignored);
    if (!temporary) total += entry.bytes;
    return temporary;
  });
  if (limit_bytes_ == 0 || total <= limit_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  // The newest entry stays even when it alone is too large: its owner is about to use it.
  for (std::size_t i = 0; i + 1 < entries.size() && total > limit_bytes_ / 10 * 9; ++i) {
    fs::remove(entries[i].path, ignored);
    total -= entries[i].bytes;
  }
}

}  // namespace kforge

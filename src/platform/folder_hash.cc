// A hash over a platform's folder: what a result was made with, by content and not by name.
#include <algorithm>

#include "base/files.h"
#include "base/hash.h"
#include "platform/platform.h"

namespace kforge {
namespace {

constexpr std::size_t kMostFiles = 4096;
// A toolchain that lies in the folder counts by the names and sizes of its files: reading it would take
// longer than judging.
constexpr std::uintmax_t kLargestRead = 1 << 20;

}  // namespace

Result<std::string> hash_of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_regular_file(error) || it->is_symlink(error)) continue;
    if (files.size() == kMostFiles)
      return fail_with_remedy("name what is large in 'sandbox.read' and keep it elsewhere",
                              fmt::format("{} has more than {} files", folder.string(), kMostFiles));
    files.push_back(it->path().lexically_relative(folder));
  }
  if (error) return fail("cannot read {}: {}", folder.string(), error.message());
  std::ranges::sort(files);
  Hasher hasher;
  hasher.add("platform 1");
  for (const fs::path& file : files) {
    std::uintmax_t bytes = fs::file_size(folder / file, error);
    hasher.add(file.string()).add(std::to_string(bytes));
    if (error || bytes > kLargestRead) continue;
    KF_TRY(std::string content, read_file(folder / file, kLargestRead));
    hasher.add(content);
  }
  return hasher.hex();
}

}  // namespace kforge

// The files of a platform's folder, and a hash over them: what a result was made with, by content and not by
// name.
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

Result<std::vector<PlatformFile>> own_files(const Platform& platform) {
  constexpr std::size_t kMostBytes = 16 << 20;
  std::vector<PlatformFile> files;
  std::error_code error;
  std::size_t left = kMostBytes;
  for (fs::directory_iterator it(platform.folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!it->is_regular_file(error) || name == "platform.toml" || name == "notes.md") continue;
    if (it->file_size(error) > left)
      return fail_with_remedy("name what is large in 'sandbox.read' and keep it elsewhere",
                              fmt::format("the files beside {} are more than {} MiB",
                                          (platform.folder / "platform.toml").string(), kMostBytes >> 20));
    KF_TRY(std::string content, read_file(it->path(), left));
    left -= content.size();
    files.push_back({name, std::move(content)});
  }
  if (error) return fail("cannot read {}: {}", platform.folder.string(), error.message());
  std::ranges::sort(files, {}, &PlatformFile::name);
  return files;
}

}  // namespace kforge

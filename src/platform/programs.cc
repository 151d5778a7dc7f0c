#include "platform/programs.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

namespace kforge {
namespace {

namespace fs = std::filesystem;

bool lies_in(const fs::path& path, const fs::path& folder) {
  auto [left, right] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return left == folder.end();
}

bool usable(const fs::path& program, const std::vector<fs::path>& read) {
  std::error_code error;
  fs::path real = fs::canonical(program, error);
  if (error || !fs::is_regular_file(real, error) || ::access(real.c_str(), X_OK) != 0) return false;
  if (real.filename() == "ccache") return false;
  if (lies_in(real, "/usr") || lies_in(real, "/bin")) return true;
  return std::ranges::any_of(read, [&](const fs::path& folder) {
    std::error_code ignored;
    fs::path shown = fs::canonical(folder, ignored);
    return !ignored && lies_in(real, shown);
  });
}

}  // namespace

std::optional<fs::path> find_program(std::string_view name, const std::vector<fs::path>& read) {
  if (name.empty()) return std::nullopt;
  if (name.starts_with('/')) return usable(name, read) ? std::optional<fs::path>(name) : std::nullopt;
  for (const fs::path& folder : read)
    for (const fs::path& program : {folder / name, folder / "bin" / name})
      if (usable(program, read)) return program;
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path ? path : "") + ":/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (folder.starts_with('/') && usable(fs::path(folder) / name, read)) return fs::path(folder) / name;
  return std::nullopt;
}

}  // namespace kforge

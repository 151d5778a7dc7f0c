#include "device/inline_includes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kforge {
namespace {

// The x of a line `#include "x"`; "" of any other.
std::string_view included_by(std::string_view line) {
  auto skip = [&](std::string_view word) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
    return true;
  };
  if (!skip("#") || !skip("include") || !skip("\"")) return "";
  const std::size_t end = line.find('"');
  return end == std::string_view::npos ? "" : line.substr(0, end);
}

void add(const DevicePackage& package, const DeviceSource& file, std::set<std::string>& done,
         std::string& out) {
  done.insert(file.name);
  out += fmt::format("#line 1 \"{}\"\n", file.name);
  std::string_view rest = file.content;
  for (int number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end), name = included_by(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto own = std::ranges::find(package.files, name, &DeviceSource::name);
    if (name.empty() || own == package.files.end()) {
      out.append(line).push_back('\n');
      continue;
    }
    if (!done.contains(own->name)) add(package, *own, done, out);
    out += fmt::format("#line {} \"{}\"\n", number + 1, file.name);
  }
}

}  // namespace

std::string inline_includes(const DevicePackage& package) {
  std::string out;
  std::set<std::string> done;
  add(package, package.files.front(), done, out);
  return out;
}

}  // namespace kforge

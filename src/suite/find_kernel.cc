#include "suite/find_kernel.h"

#include <algorithm>
#include <vector>

#include "base/files.h"

namespace kforge {
namespace {

// The folder `parent`/`name`, or the first file in `parent` that is called so but for its ending.
std::optional<fs::path> named(const fs::path& parent, const std::string& name) {
  std::error_code ignored;
  if (fs::is_directory(parent / name, ignored)) return parent / name;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(parent, ignored))
    if (entry.is_regular_file(ignored) && entry.path().stem() == name) files.push_back(entry.path());
  if (files.empty()) return std::nullopt;
  return std::ranges::min(files);
}

std::string leading_digits(const std::string& text) {
  std::string digits = text.substr(0, text.find_first_not_of("0123456789"));
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

std::string kernelbench_name(const SuiteTask& task) {
  const std::string level = task.level(), number = leading_digits(task.own_name());
  if (!level.starts_with("level") || number.empty()) return "";
  return "level_" + level.substr(5) + "_problem_" + number + "_sample_0_kernel";
}

}  // namespace

std::optional<fs::path> find_kernel(const fs::path& folder, const SuiteTask& task) {
  if (auto found = named(folder / task.level(), task.own_name())) return found;
  if (auto found = named(folder, task.own_name())) return found;
  if (const std::string name = kernelbench_name(task); !name.empty()) return named(folder, name);
  return std::nullopt;
}

}  // namespace kforge

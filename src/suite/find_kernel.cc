#include "suite/find_kernel.h"

#include <algorithm>
#include <map>
#include <optional>
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

// Every level_2_problem_12_sample_N_kernel.*, by N.
std::vector<fs::path> samples(const fs::path& folder, const SuiteTask& task) {
  const std::string level = task.level(), number = leading_digits(task.own_name());
  if (!level.starts_with("level") || number.empty()) return {};
  const std::string before = "level_" + level.substr(5) + "_problem_" + number + "_sample_",
                    after = "_kernel";
  std::map<std::pair<std::size_t, std::string>, fs::path> found;  // 2 before 10
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string stem = entry.path().stem().string();
    if (!entry.is_regular_file(ignored) || !stem.starts_with(before) || !stem.ends_with(after)) continue;
    const std::string sample = stem.substr(before.size(), stem.size() - before.size() - after.size());
    if (!sample.empty() && sample.find_first_not_of("0123456789") == sample.npos)
      found[{sample.size(), sample}] = entry.path();
  }
  std::vector<fs::path> paths;
  for (const auto& [sample, path] : found) paths.push_back(path);
  return paths;
}

}  // namespace

std::vector<fs::path> find_kernels(const fs::path& folder, const SuiteTask& task) {
  if (auto found = named(folder / task.level(), task.own_name())) return {*found};
  if (auto found = named(folder, task.own_name())) return {*found};
  return samples(folder, task);
}

}  // namespace kforge

#include "adversarial/kernel_case.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include "base/files.h"

namespace kforge {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

Result<void> read_expectation(const std::string& text, KernelCase& kernel) {
  for (const std::string& word : split(text, ' ')) {
    auto equals = word.find('=');
    if (equals == std::string::npos) return fail("{}: '{}' is not key=value", kernel.name, word);
    std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "outcome")
      kernel.outcomes = split(value, '|');
    else if (key == "gate")
      kernel.gates = split(value, '|');
    else if (key == "not_faster_than")
      kernel.not_faster_than = value;
    else if (key == "beside")
      kernel.beside = value;
    else if (key == "flag")
      kernel.flag = value;
    else if (key == "hides")
      kernel.hides = value;
    else if (key == "threads")
      kernel.threads = std::stoi(value);
    else if (key == "leaves")
      kernel.leaves.push_back(value);
    else
      return fail("{}: unknown expectation '{}'", kernel.name, key);
  }
  return {};
}

}  // namespace

Result<KernelCase> read_kernel_case(const fs::path& file) {
  KF_TRY(std::string text, read_file(file, 1 << 20));
  KernelCase kernel;
  kernel.name = file.stem().string();
  kernel.file = file;
  std::stringstream lines(text);
  static const std::regex kEntry("(?://|#) (task|shapes|mode|expect|needs|on|plan): (.*)");
  for (std::string line; std::getline(lines, line) && (line.starts_with("//") || line.starts_with("#"));) {
    std::smatch entry;
    if (line.starts_with("#version")) continue;
    if (!std::regex_match(line, entry, kEntry)) {
      if (kernel.what.find('.') == std::string::npos && line.size() > 3)
        kernel.what += (kernel.what.empty() ? "" : " ") + line.substr(line.find(' ') + 1);
      continue;
    }
    std::string key = entry[1], value = entry[2];
    if (key == "task")
      kernel.task = value.starts_with("tests/") ? (fs::path(KFORGE_SOURCE_DIR) / value).string() : value;
    if (key == "shapes") kernel.shapes = value;
    if (key == "mode") kernel.full = value == "full";
    if (key == "needs") kernel.needs = value;
    if (key == "on") kernel.on = value;
    if (key == "plan") kernel.plan = value;
    if (key == "expect") KF_TRY_VOID(read_expectation(value, kernel));
  }
  if (kernel.task.empty() || kernel.outcomes.empty())
    return fail("{} does not say its task and what to expect", file.string());
  return kernel;
}

Result<std::vector<KernelCase>> read_kernel_cases(const fs::path& folder) {
  std::vector<KernelCase> kernels;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".cc" && folder.filename() != "devices" && folder.filename() != "answers")
      continue;
    KF_TRY(KernelCase kernel, read_kernel_case(entry.path()));
    kernels.push_back(std::move(kernel));
  }
  std::ranges::sort(kernels, {}, &KernelCase::name);
  return kernels;
}

Result<fs::path> write_device_program(const KernelCase& kernel, const fs::path& folder) {
  KF_TRY(std::string source, read_file(kernel.file, 1 << 20));
  const fs::path program = folder / "program";
  fs::create_directories(program);
  KF_TRY_VOID(write_file_atomic(program / ("kernel" + kernel.file.extension().string()), source));
  KF_TRY_VOID(write_file_atomic(program / "plan.json", kernel.plan));
  return program;
}

EvalOptions quick_options(const KernelCase& kernel, SandboxTier tier, const fs::path& short_limits) {
  EvalOptions options;
  options.task = kernel.task;
  options.kernel = kernel.file;
  if (!kernel.on.empty()) options.platform = kernel.on;
  // Limits as for a user, but where a limit is what should end it they are short.
  bool ends_by_limit = std::ranges::count(kernel.outcomes, "timeout") > 0;
  if (ends_by_limit && std::ranges::count(kernel.outcomes, "compile_error") > 0)
    options.platform = short_limits.string();
  const bool looked_at_closely = !kernel.plan.empty();  // by simulators, for three times as long
  options.call_limit_seconds = ends_by_limit            ? looked_at_closely ? 0.3 : 1
                               : kernel.on == "pytorch" ? 120  // it starts PyTorch first
                                                        : 20;
  options.shape_set = kernel.shapes;
  options.baselines = {"none"};
  if (!kernel.beside.empty()) {
    fs::path honest = kernel.file.parent_path().parent_path() / "honest" / (kernel.beside + ".cc");
    options.baselines = {"honest=" + honest.string()};
  }
  options.check_only = !kernel.full;
  options.threads = kernel.threads;
  options.sandbox = tier;
  options.seconds = 1;
  return options;
}

Result<fs::path> test_platform(const fs::path& folder) {
  KF_TRY(fs::path root, data_root());
  std::error_code ec;
  fs::path copy = folder / "cpu";
  fs::create_directories(copy, ec);
  fs::copy(root / "platforms" / "cpu", copy,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing, ec);
  if (ec) return fail("cannot copy platforms/cpu to {}: {}", copy.string(), ec.message());
  KF_TRY(std::string text, read_file(copy / "platform.toml"));
  text = std::regex_replace(text, std::regex("timeout_seconds *=[^\n]*"), "timeout_seconds = 5");
  if (text.find("timeout_seconds = 5") == std::string::npos)
    return fail("platforms/cpu/platform.toml has no timeout_seconds");
  KF_TRY_VOID(write_file_atomic(copy / "platform.toml", text));
  return copy;
}

}  // namespace kforge

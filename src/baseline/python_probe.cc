#include "baseline/python_probe.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/hash.h"
#include "base/subprocess.h"

namespace kforge {
namespace {

using nlohmann::json;

// Versions from the packages' metadata: milliseconds, where importing torch takes seconds.
constexpr const char* kScript = R"(
import importlib.metadata, importlib.util, json, site, sys
versions = {}
for name in ("numpy", "onnxruntime", "torch"):
    if importlib.util.find_spec(name) is None:
        continue
    try:
        versions[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        versions[name] = "unknown"
print(json.dumps({"versions": versions, "folders": [path for path in sys.path if path]}))
)";

// Changes whenever a package is installed or removed.
std::int64_t changed_at(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return -1;
  return static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
}

std::optional<PythonFacts> read_cached(const fs::path& python, const fs::path& file) {
  auto text = read_file(file, 1 << 20);
  if (!text) return std::nullopt;
  json cached = json::parse(*text, nullptr, false);
  if (!cached.is_object() || !cached.contains("times") || !cached.contains("versions")) return std::nullopt;
  PythonFacts facts{python, {}, {}};
  try {
    for (const auto& [path, time] : cached["times"].items())
      if (changed_at(path) != time.get<std::int64_t>()) return std::nullopt;
    facts.versions = cached["versions"].get<std::map<std::string, std::string>>();
  } catch (const json::exception&) {
    return std::nullopt;  // written by somebody else
  }
  return facts;
}

void write_cached(const PythonFacts& facts, const json& folders, const fs::path& file) {
  json times = json::object();
  times[facts.python.string()] = changed_at(facts.python);
  for (const json& folder : folders)
    if (folder.is_string()) times[folder.get<std::string>()] = changed_at(folder.get<std::string>());
  json cached = {{"versions", facts.versions}, {"times", times}};
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  (void)write_file_atomic(file, cached.dump());  // without it the next start asks again
}

}  // namespace

PythonFacts probe_python(const fs::path& python, const fs::path& cache_folder) {
  fs::path file = cache_folder / ("python-" + sha256_hex(python.string()).substr(0, 16) + ".json");
  if (auto cached = read_cached(python, file)) return *cached;
  PythonFacts facts{python, {}, {}};
  Command command;
  command.argv = {python.string(), "-c", kScript};
  command.cwd = "/";  // or the script's folder would count as a place for modules
  command.timeout = std::chrono::seconds(20);
  auto finished = run_command(command);
  if (!finished || !finished->ok()) {
    facts.failure = !finished             ? finished.error().message
                    : finished->timed_out ? "it did not answer within 20 s"
                                          : "it failed: " + finished->err.substr(0, 200);
    return facts;
  }
  json answer = json::parse(finished->out, nullptr, false);
  if (!answer.is_object() || !answer.contains("versions") || !answer.contains("folders")) {
    facts.failure = "it printed something that is not the answer";
    return facts;
  }
  try {
    facts.versions = answer["versions"].get<std::map<std::string, std::string>>();
  } catch (const json::exception&) {
    facts.failure = "it printed something that is not the answer";
    return facts;
  }
  write_cached(facts, answer["folders"], file);
  return facts;
}

std::vector<fs::path> python_candidates(const fs::path& named) {
  if (!named.empty()) return {named};
  std::vector<fs::path> found;
  std::error_code error;
  auto add = [&](const fs::path& path) {
    if (::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, error) &&
        std::ranges::find(found, path) == found.end())
      found.push_back(path);
  };
  if (auto root = data_root()) add(*root / "out" / "venv" / "bin" / "python");
  add("/usr/bin/python3");
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (folder.starts_with("/")) add(fs::path(folder) / "python3");
  }
  return found;
}

}  // namespace kforge

#include "baseline/python_probe.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

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
for name in ("numpy", "onnxruntime", "openvino", "torch"):
    if importlib.util.find_spec(name) is None:
        continue
    try:
        versions[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        versions[name] = "unknown"
folders = [path for path in sys.path if path] + [sys.prefix, sys.base_prefix]
print(json.dumps({"versions": versions, "folders": folders}))
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
  PythonFacts facts{python, {}, {}, {}};
  try {
    for (const auto& [path, time] : cached["times"].items())
      if (changed_at(path) != time.get<std::int64_t>()) return std::nullopt;
    facts.versions = cached["versions"].get<std::map<std::string, std::string>>();
    facts.folders = cached.at("folders").get<std::vector<std::string>>();
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
  json cached = {{"versions", facts.versions}, {"folders", facts.folders}, {"times", times}};
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  (void)write_file_atomic(file, cached.dump());  // without it the next start asks again
}

}  // namespace

std::vector<fs::path> PythonFacts::folders_outside_usr() const {
  std::set<fs::path> found;
  std::error_code error;
  for (const std::string& folder : folders)
    if (!folder.starts_with("/usr/") && folder != "/usr" && fs::exists(folder, error)) found.insert(folder);
  return {found.begin(), found.end()};
}

PythonFacts probe_python(const fs::path& python, const fs::path& cache_folder) {
  fs::path file = cache_folder / ("python-" + sha256_hex(python.string() + kScript).substr(0, 16) + ".json");
  if (auto cached = read_cached(python, file)) return *cached;
  PythonFacts facts{python, {}, {}, {}};
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
    facts.folders = answer["folders"].get<std::vector<std::string>>();
  } catch (const json::exception&) {
    facts.failure = "it printed something that is not the answer";
    return facts;
  }
  write_cached(facts, answer["folders"], file);
  return facts;
}

std::vector<fs::path> python_candidates(const fs::path& named) {
  std::vector<fs::path> found;
  std::error_code error;
  auto add = [&](const fs::path& path) {
    if (::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, error) &&
        std::ranges::find(found, path) == found.end())
      found.push_back(path);
  };
  auto add_each = [&](const char* variable, const char* below) {
    const char* list = std::getenv(variable);
    std::string_view rest = list ? list : "";
    while (!rest.empty()) {
      std::string_view one = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      if (one.starts_with("/")) add(*below ? fs::path(one) / below : fs::path(one));
    }
  };
  if (!named.empty()) {
    found.push_back(named);  // though it may not be there: it is the user's word, and gets a reason
    if (::access(named.c_str(), X_OK) != 0) return found;
  }
  add_each("KFORGE_PYTHON", "");
  add_each("VIRTUAL_ENV", "bin/python");
  add_each("CONDA_PREFIX", "bin/python");
  if (auto root = data_root()) {
    add(*root / "out" / "venv" / "bin" / "python");
    add(*root / "out" / "torch2" / "bin" / "python");
  }
  add("/usr/bin/python3");
  add_each("PATH", "python3");
  return found;
}

bool is_newer(std::string_view a, std::string_view b) {
  auto numbers = [](std::string_view version) {
    std::vector<long> parts;
    for (const char *at = version.data(), *end = at + version.size(); at < end;) {
      long number = 0;
      auto [next, error] = std::from_chars(at, end, number);
      if (error != std::errc()) break;
      parts.push_back(number);
      if (next == end || *next != '.') break;
      at = next + 1;
    }
    return parts;
  };
  return numbers(a) > numbers(b);
}

Result<PythonFacts> python_with_torch(const fs::path& named) {
  KF_TRY(fs::path home, kforge_home());
  std::optional<PythonFacts> found;
  std::string reasons;
  for (const fs::path& python : python_candidates(named)) {
    PythonFacts facts = probe_python(python, home / "cache");
    if (!facts.versions.contains("torch") || !facts.versions.contains("numpy")) {
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", python.string(),
                             !facts.failure.empty()              ? facts.failure
                             : !facts.versions.contains("torch") ? "torch is not installed"
                                                                 : "numpy is not installed");
      continue;
    }
    if (python == named) return facts;  // the user's word, old as it may be
    bool is_new = std::atoi(facts.versions.at("torch").c_str()) >= 2;
    if (!found || is_new) found = facts;
    if (is_new) break;
  }
  if (found) return *found;
  return fail_with_remedy(
      "apt-get install python3-torch, or pip install torch numpy and --python PATH",
      "a .py file needs a Python with PyTorch" + (reasons.empty() ? std::string() : " (" + reasons + ")"));
}

}  // namespace kforge

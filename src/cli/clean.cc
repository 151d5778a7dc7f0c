// kforge clean: gives back the space of what can be made again.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "store/store.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

struct Part {
  const char* name;
  std::vector<const char*> paths;  // below KForge's home
  const char* what;
};

const Part kCaches[] = {
    {"builds", {"builds"}, "compiled kernels"},
    {"headers", {"pch"}, "precompiled headers"},
    {"expected values", {"cache/oracle"}, "what tasks must give on given inputs"},
    {"probes", {"cache", "machine"}, "operator times, what was found on this machine, its peaks"},
    {"torch", {"torchinductor"}, "programs compiled by torch.compile"},
};
const Part kResults = {"results",
                       {"store.db", "store.db-wal", "store.db-shm", "artefacts", "suites"},
                       "every result, run and suite, with the kernels: cannot be made again"};

struct CleanArguments {
  bool dry_run = false, results = false, json = false;
};

std::uintmax_t size_of_tree(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    auto size = fs::file_size(path, error);
    return error ? 0 : size;
  }
  std::uintmax_t bytes = 0;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) bytes += at->file_size(ignored);
  }
  return bytes;
}

struct Cleaned {
  std::string name, what;
  std::uintmax_t bytes = 0;
};

Result<std::vector<Cleaned>> clean(const CleanArguments& arguments, std::size_t& folders) {
  KF_TRY(fs::path home, kforge_home());
  KF_TRY(FileLock alone, have_home_alone(home));
  std::vector<Part> parts(std::begin(kCaches), std::end(kCaches));
  if (arguments.results) parts.push_back(kResults);
  std::vector<Cleaned> cleaned;
  for (const Part& part : parts) {
    Cleaned& one = cleaned.emplace_back();
    one.name = part.name;
    one.what = part.what;
    for (const char* path : part.paths) {
      std::uintmax_t inside = std::string_view(path) == "cache" ? size_of_tree(home / "cache/oracle") : 0;
      one.bytes += size_of_tree(home / path) - (arguments.dry_run ? inside : 0);
      if (arguments.dry_run) continue;
      std::error_code error;
      fs::remove_all(home / path, error);
      if (error) return fail("cannot remove {}: {}", (home / path).string(), error.message());
    }
  }
  if (!arguments.dry_run) folders = remove_abandoned_temp_dirs();
  return cleaned;
}

int run(const CleanArguments& arguments) {
  std::size_t folders = 0;
  auto cleaned = clean(arguments, folders);
  if (!cleaned) return report_error(cleaned.error(), arguments.json);
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  double bytes = 0;
  for (const Cleaned& part : *cleaned) {
    list.push_back({{"name", part.name}, {"bytes", part.bytes}, {"what", part.what}});
    rows.push_back({part.name, readable_bytes(static_cast<double>(part.bytes)), part.what});
    bytes += static_cast<double>(part.bytes);
  }
  if (arguments.json) {
    fmt::print("{}\n", Json{{"schema", "kforge.clean/1"},
                            {"dry_run", arguments.dry_run},
                            {"parts", list},
                            {"bytes", bytes},
                            {"temporary_folders", folders}}
                           .dump(2));
    return kExitPassed;
  }
  fmt::print("{}\n{} {}", fitted_table(rows, "lr", terminal_style().table_width), readable_bytes(bytes),
             arguments.dry_run ? "would be given back" : "given back");
  if (folders > 0) fmt::print("; {} folder{} of killed processes removed", folders, folders == 1 ? "" : "s");
  fmt::print("\n{}", arguments.results ? "" : "results and runs are kept\n");
  return kExitPassed;
}

}  // namespace

void declare_clean(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<CleanArguments>();
  command.add_flag("--dry-run", arguments->dry_run, "only say how much there is");
  command.add_flag("--results", arguments->results,
                   "also every stored result, run and kernel: gone for good");
  command.add_flag("--json", arguments->json, "as JSON");
  command.footer(
      "Caches are made again when they are needed; the next evaluations take longer.\n"
      "Refused while another process of KForge works with them.");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace kforge

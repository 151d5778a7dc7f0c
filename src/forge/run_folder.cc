#include "forge/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/hash.h"
#include "forge/check_files.h"
#include "forge/forge.h"
#include "forge/option_fields.h"
#include "judge/setup.h"

namespace kforge {
namespace {

// Which files a run wrote, with their hashes: the only ones it may overwrite.
struct Manifest {
  std::string run;
  std::map<std::string, std::string> hashes;
};

Manifest read_manifest(const fs::path& folder) {
  Manifest manifest;
  auto text = read_file(folder / kRunManifest, 1 << 20);
  auto json = nlohmann::json::parse(text.value_or(""), nullptr, false);
  if (!json.is_object()) return manifest;
  if (json.contains("run") && json["run"].is_string()) manifest.run = json["run"];
  if (json.contains("files") && json["files"].is_object())
    for (const auto& [name, hash] : json["files"].items())
      if (hash.is_string()) manifest.hashes[name] = hash;
  return manifest;
}

Result<void> check_file(const fs::path& folder, const std::string& name, const std::string& run,
                        const Manifest& manifest) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(folder / name, ignored))) return {};
  if (!run.empty() && manifest.run == run && !fs::is_symlink(folder / name, ignored)) {
    auto known = manifest.hashes.find(name);
    auto content = read_file(folder / name);
    if (known != manifest.hashes.end() && content && sha256_hex(*content) == known->second) return {};
  }
  return fail_with_remedy(
      // A run that has not begun is not there to be shown.
      "name another folder: --out DIR" +
          (run.empty() ? "" : fmt::format(", or later `kforge show {} --out DIR`", run)),
      fmt::format("{} exists, and this run did not write it", (folder / name).string()));
}

// Of the folder, or of the first one above it that is there.
Result<void> check_writable(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_parent_path() && folder != folder.parent_path())
    folder = folder.parent_path();
  // Tried: permissions do not tell of read-only disks and other places where nothing can be made.
  std::string trial = (folder / ".kforge-XXXXXX").string();
  if (fs::is_directory(folder, ignored) && ::mkdtemp(trial.data())) {
    ::rmdir(trial.c_str());
    return {};
  }
  return fail_with_remedy(
      "name another folder with --out",
      fmt::format("cannot write into {}: {}", folder.string(),
                  fs::is_directory(folder, ignored) ? std::strerror(errno) : "it is no folder"));
}

Result<void> write_files(const fs::path& folder, const std::string& run,
                         const std::vector<SourceFile>& files) {
  Manifest manifest = read_manifest(folder);
  for (const SourceFile& file : files) KF_TRY_VOID(check_file(folder, file.name, run, manifest));
  nlohmann::ordered_json hashes = nlohmann::ordered_json::object();
  for (const SourceFile& file : files) {
    std::error_code error;
    fs::create_directories((folder / file.name).parent_path(), error);
    if (error)
      return fail_with_remedy("name another folder with --out",
                              fmt::format("cannot make {}: {}", folder.string(), error.message()));
    KF_TRY_VOID(write_file_atomic(folder / file.name, file.content));
    hashes[file.name] = sha256_hex(file.content);
  }
  return write_file_atomic(folder / kRunManifest,
                           nlohmann::ordered_json{{"run", run}, {"files", hashes}}.dump(1) + "\n");
}

}  // namespace

Result<fs::path> run_folder(const fs::path& out, const Task& task, const std::string& run) {
  std::error_code error;
  fs::path folder =
      fs::absolute(out.empty() ? fs::path(fmt::format("kforge-{}-{}", task.name, run)) : out, error);
  if (error)
    return fail_with_remedy("name a folder with --out",
                            fmt::format("the current folder is gone: {}", error.message()));
  return folder.lexically_normal();
}

std::string kernel_file(const Candidate& program) { return program.files.front().name; }

Result<void> check_run_folder(const fs::path& folder, const Platform& platform) {
  KF_TRY_VOID(check_writable(folder));
  Manifest manifest = read_manifest(folder);
  for (const std::string& name :
       {"kernel" + platform.files.front(), std::string("task.h"), std::string("report.md"),
        std::string("report.html"), std::string("report.json"), std::string("check/check.cc"),
        std::string("check/check.py"), std::string("check/CMakeLists.txt")})
    KF_TRY_VOID(check_file(folder, name, "", manifest));
  return {};
}

Result<void> write_run_folder(const fs::path& folder, const RunFolderContent& content, RunReport& report) {
  std::vector<SourceFile> files = content.program.files;
  const bool native = content.platform.kind == PlatformKind::kNative;
  if (native) files.push_back({"task.h", make_task_header(content.task)});
  report.has_check = false;
  bool has_name =
      std::ranges::any_of(files, [](const SourceFile& f) { return f.name.starts_with("check/"); });
  if (native && report.best->build && !has_name) files.push_back(prelude_file(content.platform));
  if (content.with_check && !has_name) {
    auto check = check_files(content.task, content.platform, content.policy, content.program, *report.best,
                             content.threads);
    // The kernel is worth more than its callers.
    if (!check) report.notes.push_back("no callers that check the kernel: " + check.error().message);
    if (check) report.has_check = !check->empty();
    if (check) files.insert(files.end(), check->begin(), check->end());
  }
  report.folder_missing = false;
  files.push_back({"report.md", to_markdown(report)});
  files.push_back({"report.json", to_json(report) + "\n"});
  // The kernel is worth more than its page, too.
  if (auto page = to_html(report, content.evidence))
    files.push_back({"report.html", std::move(*page)});
  else
    report.notes.push_back("no report.html: " + page.error().message);
  return write_files(folder, report.id, files);
}

Result<RunReport> write_run_again(std::string_view id, const fs::path& out) {
  KF_TRY(auto records, RunRecords::open());
  KF_TRY(StoredRun run, records->run(id));
  if (!run.best || run.result.empty()) return fail("run {} has no verified program to write", run.id);
  KF_TRY(ForgeOptions options, options_from(run.options));
  KF_TRY(auto setup, open_setup(options.session));
  if (setup->task.content_hash != run.task_hash)
    return fail_with_remedy(fmt::format("`kforge show {} --source` prints the program", run.id),
                            fmt::format("the task {} has changed since run {} ended", run.task, run.id));
  KF_TRY(auto attempts, records->attempts(run.id));
  const Candidate* program = nullptr;
  for (const Attempt& attempt : attempts)
    if (attempt.number == *run.best) program = attempt.program();
  if (!program) return fail("the store has lost the program of run {}", run.id);
  KF_TRY(fs::path folder, run_folder(out.empty() ? fs::path(run.folder) : out, setup->task, run.id));
  run.folder = folder.string();
  KF_TRY_VOID(records->finish(run));
  KF_TRY(RunReport report, report_of(*records, run.id));
  KF_TRY(RunEvidence evidence, evidence_of(*records, report));
  KF_TRY_VOID(write_run_folder(
      folder, {*program, setup->bound(0), setup->platform, setup->policy, evidence, setup->threads}, report));
  return report;
}

}  // namespace kforge

#include "export/export.h"

#include <algorithm>
#include <set>

#include "base/files.h"
#include "export/exportable.h"
#include "export/packages.h"
#include "export/provenance.h"
#include "task/c_names.h"

namespace kforge {
namespace {

Result<std::string> package_name(const ExportRequest& request, const Task& task) {
  std::set<std::string> taken;
  if (request.name.empty()) return make_c_name(task.name, taken);
  std::string name = make_c_name(request.name, taken);
  if (name == request.name) return name;
  return fail_with_remedy(
      fmt::format("such as --name {}", name),
      fmt::format("'{}' is no name for functions: letters, digits and _, no keyword", request.name));
}

// A folder that an export made before may be written again; no other.
Result<fs::path> export_folder(const ExportRequest& request, const std::string& name) {
  std::error_code error;
  fs::path folder =
      fs::absolute(request.out.empty() ? fs::path(fmt::format("{}-{}", name, request.as)) : request.out,
                   error)
          .lexically_normal();
  if (error) return fail("cannot find the current folder: {}", error.message());
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    return fail_with_remedy("name another folder with --out",
                            fmt::format("{} is no folder", folder.string()));
  bool empty = !fs::exists(folder, error) || fs::is_empty(folder, error);
  auto provenance = read_file(folder / "provenance.json", 16 << 20);
  if (!empty && !(provenance && provenance->find("kforge.export/1") != std::string::npos))
    return fail_with_remedy("name another folder with --out",
                            fmt::format("{} has files that no export made", folder.string()));
  return folder;
}

Result<void> write_all(const fs::path& folder, const std::vector<SourceFile>& files) {
  for (const SourceFile& file : files) {
    std::error_code error;
    fs::path path = folder / file.name;
    fs::create_directories(path.parent_path(), error);
    if (error)
      return fail_with_remedy(
          "name another folder with --out",
          fmt::format("cannot make {}: {}", path.parent_path().string(), error.message()));
    KF_TRY_VOID(write_file_atomic(path, file.content));
  }
  return {};
}

std::vector<std::string> commands_of(const std::string& as) {
  if (as == "pytorch") return {"python3 test.py"};
  if (as == "wheel") return {"python3 test.py", "pip wheel --no-deps --wheel-dir dist ."};
  return {"cmake -S . -B build -DCMAKE_BUILD_TYPE=Release", "cmake --build build",
          "ctest --test-dir build --output-on-failure"};
}

}  // namespace

Result<Exported> export_program(const ExportRequest& request, Progress& progress) {
  progress.stage("reading the result");
  KF_TRY(Exportable exportable, find_exportable(request.id, request.shape_case));
  Exported exported;
  exported.as = request.as;
  KF_TRY(exported.name, package_name(request, exportable.setup->task));
  KF_TRY(exported.folder, export_folder(request, exported.name));
  progress.stage("computing what its test expects");
  std::vector<SourceFile> files;
  if (request.as == "c" || request.as == "cpp") {
    KF_TRY(files, c_package(exportable, exported.name, request.as == "cpp"));
  } else {
    KF_TRY(files, pytorch_package(exportable, exported.name, exported.folder, request.as == "wheel"));
  }
  progress.stage("writing");
  KF_TRY_VOID(write_all(exported.folder, files));
  for (const SourceFile& file : files) exported.files.push_back(file.name);
  std::ranges::sort(exported.files);
  exported.task = exportable.report.task;
  exported.verdict = verdict_sentence(exportable.report);
  exported.caveats = caveats_of(exportable.report);
  exported.commands = commands_of(request.as);
  exported.report = std::move(exportable.report);
  return exported;
}

}  // namespace kforge

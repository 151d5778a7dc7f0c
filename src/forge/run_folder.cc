#include "forge/run_folder.h"

#include "base/files.h"

namespace kforge {

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

Result<void> write_run_folder(const fs::path& folder, const Candidate& program, const BoundTask& task,
                              const RunReport& report) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail_with_remedy("name another folder with --out",
                            fmt::format("cannot make {}: {}", folder.string(), error.message()));
  for (const SourceFile& file : program.files) {
    fs::create_directories((folder / file.name).parent_path(), error);
    KF_TRY_VOID(write_file_atomic(folder / file.name, file.content));
  }
  KF_TRY_VOID(write_file_atomic(folder / "task.h", make_task_header(task)));
  KF_TRY_VOID(write_file_atomic(folder / "report.md", to_markdown(report)));
  return write_file_atomic(folder / "report.json", to_json(report) + "\n");
}

}  // namespace kforge

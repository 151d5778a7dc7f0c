#include "import/import_many.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

namespace kforge {
namespace {

ImportRow import_one(const fs::path& folder, const fs::path& file, ImportOptions options,
                     const fs::path& out) {
  ImportRow row{file, {}, 0, {}, 0};
  auto begin = std::chrono::steady_clock::now();
  SilentProgress silent;
  options.file = folder / file;
  auto task = import_module(options, silent);
  if (task && !out.empty())
    if (auto written = write_task(*task, out / file.parent_path() / task->name); !written)
      task = std::unexpected(written.error());
  if (task) {
    row.operators = task->sized.graph.nodes.size();
    task->source.clear();
    task->sized.graph = {};
    row.task = std::move(*task);
  } else {
    row.error = task.error();
  }
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return row;
}

}  // namespace

bool is_module_file(const fs::path& path) {
  std::error_code ignored;
  if (path.extension() != ".py" || !fs::is_regular_file(path, ignored)) return false;
  auto text = read_file(path, 4 << 20);
  return text && text->find("class Model") != std::string::npos;
}

Result<std::vector<fs::path>> module_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator place(folder, error), end; !error && place != end;
       place.increment(error)) {
    const fs::path& path = place->path();
    std::error_code ignored;
    if (path.filename().string().starts_with(".") && place->is_directory(ignored))
      place.disable_recursion_pending();
    if (is_module_file(path)) files.push_back(fs::relative(path, folder, ignored));
  }
  if (error) return fail("cannot read the folder {}: {}", folder.string(), error.message());
  if (files.empty())
    return fail_with_remedy("a module's file defines Model, get_inputs and get_init_inputs",
                            fmt::format("no Python file below {} has a class Model", folder.string()));
  std::ranges::sort(
      files, [](const fs::path& a, const fs::path& b) { return ::strverscmp(a.c_str(), b.c_str()) < 0; });
  return files;
}

std::vector<ImportRow> import_many(const fs::path& folder, const std::vector<fs::path>& files,
                                   const ImportOptions& options, const fs::path& out, int jobs,
                                   const std::function<void(const ImportRow&)>& done) {
  std::vector<ImportRow> rows(files.size());
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      rows[i] = import_one(folder, files[i], options, out);
      std::scoped_lock lock(telling);
      done(rows[i]);
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return rows;
}

}  // namespace kforge

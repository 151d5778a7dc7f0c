#include "import/import_many.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/text.h"

namespace kforge {
namespace {

// Runs of digits count as numbers.
bool counts_before(const std::string& a, const std::string& b) {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      std::size_t m = i, n = j;
      while (m < a.size() && is_digit(a[m])) ++m;
      while (n < b.size() && is_digit(b[n])) ++n;
      std::string x = a.substr(i, m - i), y = b.substr(j, n - j);
      x.erase(0, std::min(x.find_first_not_of('0'), x.size() - 1));
      y.erase(0, std::min(y.find_first_not_of('0'), y.size() - 1));
      if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
      i = m, j = n;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i, ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

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

Result<std::vector<fs::path>> module_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator place(folder, error), end; !error && place != end;
       place.increment(error)) {
    const fs::path& path = place->path();
    std::error_code ignored;
    if (path.filename().string().starts_with(".") && place->is_directory(ignored))
      place.disable_recursion_pending();
    if (path.extension() != ".py" || !place->is_regular_file(ignored)) continue;
    auto text = read_file(path, 4 << 20);
    if (text && text->find("class Model") != std::string::npos)
      files.push_back(fs::relative(path, folder, ignored));
  }
  if (error) return fail("cannot read the folder {}: {}", folder.string(), error.message());
  if (files.empty())
    return fail_with_remedy("a module's file defines Model, get_inputs and get_init_inputs",
                            fmt::format("no Python file below {} has a class Model", folder.string()));
  std::ranges::sort(files, counts_before, [](const fs::path& file) { return file.string(); });
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

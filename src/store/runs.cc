// Runs: how they were asked for and how they ended.
#include "store/runs.h"

#include <chrono>
#include <thread>

#include "base/lock_holder.h"
#include "store/option_document.h"
#include "store/run_lock.h"
#include "store/run_row.h"

namespace kforge {
namespace {

using Lock = std::lock_guard<std::mutex>;

}  // namespace

std::string_view name_of(RunState state) { return state == RunState::kFinished ? "finished" : "running"; }

std::string_view name_of(RunActivity activity) {
  constexpr std::string_view kNames[] = {"running", "waiting", "stopped", "dead", "finished"};
  return kNames[static_cast<std::size_t>(activity)];
}

RunActivity activity_of(const StoredRun& run, bool alive, bool waiting) {
  if (run.state == RunState::kFinished) return RunActivity::kFinished;
  if (alive) return waiting ? RunActivity::kWaiting : RunActivity::kRunning;
  return run.ended ? RunActivity::kStopped : RunActivity::kDead;
}

Result<std::unique_ptr<RunRecords>> RunRecords::open() {
  KF_TRY(fs::path home, kforge_home());
  return open(home);
}

Result<std::unique_ptr<RunRecords>> RunRecords::open(const std::filesystem::path& folder) {
  KF_TRY(Store store, Store::open(folder));  // brings the tables up to date
  KF_TRY(Database database, Database::open(folder / "store.db"));
  return std::unique_ptr<RunRecords>(new RunRecords(folder, std::move(store), std::move(database)));
}

fs::path RunRecords::lock_file(std::string_view run) const { return run_lock_file(folder_, run); }

Result<FileLock> RunRecords::hold(std::string_view run) {
  std::error_code ignored;
  fs::create_directories(folder_ / "locks", ignored);
  // Whoever looks whether a run is held has its lock for a moment.
  for (int i = 0; i < 10; ++i) {
    KF_TRY(auto lock, FileLock::take(lock_file(run)));
    if (lock) {
      note_lock_holder(lock_file(run));
      return std::move(*lock);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return fail_with_remedy("wait for it, or stop it, then resume",
                          fmt::format("another process is working on run {}", run));
}

bool RunRecords::held(std::string_view run) const { return FileLock::held(lock_file(run)); }

Result<void> RunRecords::begin(const StoredRun& run) {
  Lock lock(mutex_);
  KF_TRY(auto insert,
         database_.prepare(
             "INSERT INTO run(id, created_at, task, task_hash, shape_set, platform, precision, "
             "generator, analyst, strategy, options, seed, state) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  for (const std::string* text : {&run.id, &run.created_at, &run.task, &run.task_hash, &run.shape_set,
                                  &run.platform, &run.precision, &run.generator, &run.analyst, &run.strategy})
    insert.bind(*text);
  insert.bind(to_document(run.options)).bind(fmt::format("{:016x}", run.seed));
  return written(insert.bind(name_of(run.state)).run());
}

Result<void> RunRecords::finish(const StoredRun& run) {
  Lock lock(mutex_);
  KF_TRY(auto update,
         database_.prepare(
             "UPDATE run SET state = ?, ended = ?, best = ?, result = ?, speedup = ?, against = ?, "
             "folder = ?, document = ? WHERE id = ?"));
  std::optional<std::int64_t> best;
  if (run.best) best = *run.best;
  update.bind(name_of(run.state))
      .bind(run.ended ? name_of(*run.ended) : "")
      .bind(best)
      .bind(null_if_empty(run.result))
      .bind(run.speedup);
  return written(update.bind(run.against).bind(run.folder).bind(run.document).bind(run.id).run());
}

Result<std::string> RunRecords::full_id(std::string_view id) {
  constexpr const char* kRemedy = "`kforge runs` lists them";
  if (id == "last") {
    KF_TRY(auto query, database_.prepare("SELECT id FROM run ORDER BY id DESC LIMIT 1"));
    KF_TRY(bool found, query.step());
    if (!found) return fail_with_remedy("`kforge forge` makes one", "the store has no run yet");
    return query.text(0);
  }
  // A prefix as a range: ids hold nothing above 'z'.
  KF_TRY(auto query, database_.prepare("SELECT id FROM run WHERE id >= ? AND id < ? ORDER BY id LIMIT 2"));
  KF_TRY(bool found, query.bind(id).bind(std::string(id) + "~").step());
  if (!found || id.empty()) return fail_with_remedy(kRemedy, fmt::format("the store has no run \"{}\"", id));
  std::string full = query.text(0);
  KF_TRY(bool second, query.step());
  if (second && full != id)
    return fail_with_remedy(kRemedy, fmt::format("more than one run begins with \"{}\"", id));
  return full;
}

Result<StoredRun> RunRecords::run(std::string_view id) {
  Lock lock(mutex_);
  KF_TRY(std::string full, full_id(id));
  KF_TRY(auto query, database_.prepare(run_columns(true) + "WHERE id = ?"));
  KF_TRY(bool found, query.bind(full).step());
  if (!found) return fail("the run {} was removed", full);
  return read_run(query);
}

Result<std::optional<RunRecords::Elsewhere>> RunRecords::best_elsewhere(std::string_view task,
                                                                        std::string_view platform) {
  Lock lock(mutex_);
  // The fastest where speedups are known; a verified program without one is better than none.
  KF_TRY(auto query,
         database_.prepare("SELECT candidate, platform FROM result WHERE task = ? AND platform <> ? AND "
                           "outcome = 'passed' AND candidate IS NOT NULL "
                           "ORDER BY speedup IS NULL, speedup DESC, id DESC LIMIT 1"));
  KF_TRY(bool found, query.bind(task).bind(platform).step());
  if (!found) return std::nullopt;
  return Elsewhere{query.text(0), query.text(1)};
}

}  // namespace kforge

// Runs by what lists ask for.
#include <array>
#include <charconv>

#include "store/option_document.h"
#include "store/run_row.h"

namespace kforge {
namespace {

constexpr std::string_view kWhere =
    "WHERE (?1 = '' OR task = ?1 OR substr(task, instr(task, '/') + 1) = ?1) AND (?2 = '' OR platform = ?2) "
    "AND (?3 = '' OR state = ?3) AND (?4 = '' OR instr(lower(id || ' ' || task || ' ' || platform || ' ' || "
    "generator || ' ' || strategy || ' ' || against), lower(?4)) > 0) ";

std::string order_of(const RunQuery& query) {
  constexpr std::array<std::string_view, 4> kColumns = {"id", "task", "platform", "speedup"};
  const std::string_view column = kColumns[static_cast<std::size_t>(query.sort)];
  return fmt::format("ORDER BY {0} IS NULL, {0} {1}, id DESC ", column, query.ascending ? "ASC" : "DESC");
}

void bind_filter(Statement& statement, const RunQuery& query) {
  statement.bind(query.task)
      .bind(query.platform)
      .bind(query.state ? name_of(*query.state) : "")
      .bind(query.search);
}

}  // namespace

std::string run_columns(bool with_document) {
  return fmt::format(
      "SELECT id, created_at, task, task_hash, shape_set, platform, precision, generator, analyst, strategy, "
      "options, "
      "state, ended, result, against, folder, {}, seed, best, speedup FROM run ",
      with_document ? "document" : "''");
}

Result<StoredRun> read_run(const Statement& row) {
  StoredRun run;
  std::string options, state, ended;
  std::string* texts[] = {&run.id,       &run.created_at, &run.task,      &run.task_hash, &run.shape_set,
                          &run.platform, &run.precision,  &run.generator, &run.analyst,   &run.strategy,
                          &options,      &state,          &ended,         &run.result,    &run.against,
                          &run.folder,   &run.document};
  int column = 0;
  for (std::string* text : texts) *text = row.text(column++);
  KF_TRY(run.options, options_from_document(options));
  run.state = state == name_of(RunState::kFinished) ? RunState::kFinished : RunState::kRunning;
  run.ended = ending_from_name(ended);
  std::string seed = row.text(column++);
  std::from_chars(seed.data(), seed.data() + seed.size(), run.seed, 16);
  if (!row.is_null(column)) run.best = static_cast<int>(row.integer(column));
  if (!row.is_null(column + 1)) run.speedup = row.real(column + 1);
  return run;
}

Result<std::vector<StoredRun>> RunRecords::latest(std::string_view task, std::size_t limit) {
  KF_TRY(RunPage page, find({.task = std::string(task), .limit = limit}));
  return std::move(page.rows);
}

Result<RunPage> RunRecords::find(const RunQuery& query) {
  std::lock_guard lock(mutex_);
  RunPage page;
  KF_TRY(auto select, database_.prepare(fmt::format("{}{}{}LIMIT ?5 OFFSET ?6", run_columns(false), kWhere,
                                                    order_of(query))));
  bind_filter(select, query);
  select.bind(static_cast<std::int64_t>(query.limit)).bind(static_cast<std::int64_t>(query.offset));
  for (;;) {
    KF_TRY(bool more, select.step());
    if (!more) break;
    KF_TRY(StoredRun run, read_run(select));
    page.rows.push_back(std::move(run));
  }
  KF_TRY(auto count, database_.prepare(fmt::format("SELECT count(*) FROM run {}", kWhere)));
  bind_filter(count, query);
  KF_TRY(bool counted, count.step());
  page.total = counted ? static_cast<std::size_t>(count.integer(0)) : 0;
  return page;
}

}  // namespace kforge

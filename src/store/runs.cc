// Runs, their attempts and the advice they were made on.
#include "store/runs.h"

#include <charconv>

namespace kforge {
namespace {

using Lock = std::lock_guard<std::mutex>;

constexpr const char* kRunColumns =
    "SELECT id, created_at, task, task_hash, shape_set, platform, precision, generator, analyst, strategy, "
    "options, "
    "state, ended, result, against, folder, document, seed, best, speedup FROM run ";

StoredRun read_run(const Statement& row) {
  StoredRun run;
  std::string* texts[] = {&run.id,       &run.created_at, &run.task,      &run.task_hash, &run.shape_set,
                          &run.platform, &run.precision,  &run.generator, &run.analyst,   &run.strategy,
                          &run.options,  &run.state,      &run.ended,     &run.result,    &run.against,
                          &run.folder,   &run.document};
  int column = 0;
  for (std::string* text : texts) *text = row.text(column++);
  std::string seed = row.text(column++);
  std::from_chars(seed.data(), seed.data() + seed.size(), run.seed, 16);
  if (!row.is_null(column)) run.best = static_cast<int>(row.integer(column));
  if (!row.is_null(column + 1)) run.speedup = row.real(column + 1);
  return run;
}

}  // namespace

Result<std::unique_ptr<RunRecords>> RunRecords::open() {
  KF_TRY(fs::path home, kforge_home());
  return open(home);
}

Result<std::unique_ptr<RunRecords>> RunRecords::open(const std::filesystem::path& folder) {
  KF_TRY(Store store, Store::open(folder));  // brings the tables up to date
  KF_TRY(Database database, Database::open(folder / "store.db"));
  return std::unique_ptr<RunRecords>(new RunRecords(std::move(store), std::move(database)));
}

Result<void> RunRecords::begin(const StoredRun& run) {
  Lock lock(mutex_);
  KF_TRY(auto insert,
         database_.prepare(
             "INSERT INTO run(id, created_at, task, task_hash, shape_set, platform, precision, "
             "generator, analyst, strategy, options, seed, state) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  for (const std::string* text :
       {&run.id, &run.created_at, &run.task, &run.task_hash, &run.shape_set, &run.platform, &run.precision,
        &run.generator, &run.analyst, &run.strategy, &run.options})
    insert.bind(*text);
  return written(insert.bind(fmt::format("{:016x}", run.seed)).bind(run.state).run());
}

Result<void> RunRecords::finish(const StoredRun& run) {
  Lock lock(mutex_);
  KF_TRY(auto update,
         database_.prepare(
             "UPDATE run SET state = ?, ended = ?, best = ?, result = ?, speedup = ?, against = ?, "
             "folder = ?, document = ? WHERE id = ?"));
  std::optional<std::int64_t> best;
  if (run.best) best = *run.best;
  update.bind(run.state).bind(run.ended).bind(best).bind(text_or_null(run.result)).bind(run.speedup);
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
  KF_TRY(auto query, database_.prepare(std::string(kRunColumns) + "WHERE id = ?"));
  KF_TRY(bool found, query.bind(full).step());
  if (!found) return fail("the run {} was removed", full);
  return read_run(query);
}

Result<std::vector<StoredRun>> RunRecords::latest(std::string_view task, std::size_t limit) {
  Lock lock(mutex_);
  KF_TRY(auto query,
         database_.prepare(std::string(kRunColumns) +
                           "WHERE (?1 = '' OR task = ?1 OR substr(task, instr(task, '/') + 1) = ?1) "
                           "ORDER BY id DESC LIMIT ?2"));
  query.bind(task).bind(static_cast<std::int64_t>(limit));
  std::vector<StoredRun> runs;
  for (;;) {
    KF_TRY(bool more, query.step());
    if (!more) return runs;
    runs.push_back(read_run(query));
  }
}

Result<void> RunRecords::save_plan(std::string_view run, int number, std::string_view plan) {
  Lock lock(mutex_);
  KF_TRY(auto insert, database_.prepare("INSERT INTO attempt(run, number, plan) VALUES (?,?,?)"));
  return written(insert.bind(run).bind(std::int64_t{number}).bind(plan).run());
}

Result<void> RunRecords::change_plan(std::string_view run, int number, std::string_view plan) {
  Lock lock(mutex_);
  KF_TRY(auto update, database_.prepare("UPDATE attempt SET plan = ? WHERE run = ? AND number = ?"));
  return written(update.bind(plan).bind(run).bind(std::int64_t{number}).run());
}

Result<void> RunRecords::change_verdict(std::string_view run, int number, std::string_view verdict) {
  Lock lock(mutex_);
  KF_TRY(auto update, database_.prepare("UPDATE attempt SET verdict = ? WHERE run = ? AND number = ?"));
  return written(update.bind(verdict).bind(run).bind(std::int64_t{number}).run());
}

Result<void> RunRecords::save_generation(std::string_view run, int number, std::string_view generation,
                                         const StoredCandidate* candidate) {
  Lock lock(mutex_);
  if (candidate) KF_TRY_VOID(store_.save_candidate(*candidate));
  KF_TRY(auto update,
         database_.prepare("UPDATE attempt SET generation = ?, candidate = ? WHERE run = ? AND number = ?"));
  update.bind(generation).bind(text_or_null(candidate ? candidate->hash : ""));
  return written(update.bind(run).bind(std::int64_t{number}).run());
}

Result<void> RunRecords::save_verdict(std::string_view run, int number, std::string_view verdict,
                                      std::string_view result, double clock) {
  Lock lock(mutex_);
  KF_TRY(auto update,
         database_.prepare(
             "UPDATE attempt SET verdict = ?, result = ?, clock = ? WHERE run = ? AND number = ?"));
  return written(
      update.bind(verdict).bind(text_or_null(result)).bind(clock).bind(run).bind(std::int64_t{number}).run());
}

Result<std::vector<StoredAttempt>> RunRecords::attempts(std::string_view run) {
  Lock lock(mutex_);
  KF_TRY(auto query,
         database_.prepare(
             "SELECT number, plan, generation, attempt.candidate, verdict, result, clock, document "
             "FROM attempt LEFT JOIN advice ON advice.run = attempt.run AND advice.attempt = number "
             "WHERE attempt.run = ? ORDER BY number"));
  query.bind(run);
  std::vector<StoredAttempt> attempts;
  for (;;) {
    KF_TRY(bool more, query.step());
    if (!more) return attempts;
    StoredAttempt& attempt = attempts.emplace_back();
    attempt.number = static_cast<int>(query.integer(0));
    attempt.plan = query.text(1);
    if (!query.is_null(2)) attempt.generation = query.text(2);
    attempt.candidate = query.text(3);
    if (!query.is_null(4)) attempt.verdict = query.text(4);
    attempt.result = query.text(5);
    attempt.clock = query.real(6);
    if (!query.is_null(7)) attempt.advice = query.text(7);
  }
}

Result<StoredCandidate> RunRecords::candidate(std::string_view hash) {
  Lock lock(mutex_);
  return store_.candidate(hash);
}

Result<void> RunRecords::save_advice(std::string_view run, int attempt, const StoredAdvice& advice) {
  Lock lock(mutex_);
  KF_TRY(
      auto insert,
      database_.prepare("INSERT OR REPLACE INTO advice(run, attempt, tag, made_by, expected_gain, document) "
                        "VALUES (?,?,?,?,?,?)"));
  insert.bind(run).bind(std::int64_t{attempt}).bind(advice.tag).bind(advice.by);
  return written(insert.bind(advice.expected_gain).bind(advice.document).run());
}

Result<void> RunRecords::save_gain(std::string_view run, int attempt, double gain) {
  Lock lock(mutex_);
  KF_TRY(auto update, database_.prepare("UPDATE advice SET measured_gain = ? WHERE run = ? AND attempt = ?"));
  return update.bind(gain).bind(run).bind(std::int64_t{attempt}).run();
}

Result<void> RunRecords::save_profile(std::string_view run, int attempt, std::string_view document) {
  Lock lock(mutex_);
  KF_TRY(std::string hash, store_.save_artefact(document));
  KF_TRY(auto insert, database_.prepare("INSERT OR REPLACE INTO profile VALUES (?,?,?)"));
  return written(insert.bind(run).bind(std::int64_t{attempt}).bind(hash).run());
}

Result<std::optional<std::string>> RunRecords::profile(std::string_view run, int attempt) {
  Lock lock(mutex_);
  KF_TRY(auto query, database_.prepare("SELECT artefact FROM profile WHERE run = ? AND attempt = ?"));
  KF_TRY(bool found, query.bind(run).bind(std::int64_t{attempt}).step());
  if (!found) return std::nullopt;
  KF_TRY(std::string document, store_.load_artefact(query.text(0)));
  return document;
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

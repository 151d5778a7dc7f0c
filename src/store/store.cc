// Opening, and the records before a verdict: candidates and builds.
#include "store/store.h"

#include "store/migrate.h"

namespace kforge {

namespace {

Result<FileLock> lock_home(const fs::path& home, bool shared, std::string_view in_the_way) {
  std::error_code error, ignored;
  const fs::path file = home / "locks" / "in-use";
  fs::create_directories(file.parent_path(), error);
  if (error)
    return fail_with_remedy(
        "set KFORGE_HOME to a folder that KForge may write",
        fmt::format("cannot write to KForge's folder {}: {}", home.string(), error.message()));
  if (fs::is_directory(file, ignored)) fs::remove(file, ignored);  // what is in a cache may be anything
  KF_TRY(auto lock, FileLock::take(file, shared));
  if (lock) return std::move(*lock);
  return fail_with_remedy("wait for it to end, and run the command again", std::string(in_the_way));
}

}  // namespace

Result<FileLock> use_home(const fs::path& home) {
  return lock_home(home, true, "another process is cleaning KForge's caches");
}

Result<FileLock> have_home_alone(const fs::path& home) {
  return lock_home(home, false, "another process of KForge is at work, with the caches in its hands");
}

Result<Store> Store::open() {
  KF_TRY(fs::path home, kforge_home());
  return open(home);
}

Result<Store> Store::open(const std::filesystem::path& folder) {
  KF_TRY(Database database, Database::open(folder / "store.db"));
  KF_TRY_VOID(migrate(database, all_migrations()));
  return Store(folder, std::move(database));
}

Result<void> Store::save_candidate(const StoredCandidate& candidate) {
  // Files first: a row never names a file that is not there.
  std::vector<std::string> artefacts;
  for (const SourceFile& file : candidate.files) {
    KF_TRY(std::string hash, save_artefact(file.content));
    artefacts.push_back(std::move(hash));
  }
  KF_TRY(auto transaction, Transaction::begin(database_));
  KF_TRY(auto insert, database_.prepare("INSERT OR IGNORE INTO candidate VALUES (?, ?, ?)"));
  KF_TRY_VOID(insert.bind(candidate.hash).bind(candidate.origin).bind(utc_now()).run());
  for (std::size_t i = 0; i < candidate.files.size(); ++i) {
    KF_TRY(auto file, database_.prepare("INSERT OR IGNORE INTO candidate_file VALUES (?, ?, ?, ?)"));
    file.bind(candidate.hash)
        .bind(static_cast<std::int64_t>(i))
        .bind(candidate.files[i].name)
        .bind(artefacts[i]);
    KF_TRY_VOID(file.run());
  }
  return transaction.commit();
}

Result<StoredCandidate> Store::candidate(std::string_view hash) {
  StoredCandidate candidate;
  KF_TRY(auto query, database_.prepare("SELECT hash, origin FROM candidate WHERE hash = ?"));
  KF_TRY(bool found, query.bind(hash).step());
  if (!found) return fail("the store has no candidate {}", hash);
  candidate.hash = query.text(0);
  candidate.origin = query.text(1);
  KF_TRY(auto files,
         database_.prepare("SELECT name, artefact FROM candidate_file WHERE candidate = ? ORDER BY ordinal"));
  files.bind(hash);
  for (;;) {
    KF_TRY(bool row, files.step());
    if (!row) return candidate;
    KF_TRY(std::string content, load_artefact(files.text(1)));
    candidate.files.push_back({files.text(0), std::move(content)});
  }
}

Result<std::int64_t> Store::save_build(const StoredBuild& build) {
  std::optional<std::string> artefact;
  if (!build.artefact.empty()) {
    KF_TRY(std::string content, read_file(build.artefact));
    KF_TRY(artefact, save_artefact(content));
  }
  KF_TRY(auto transaction, Transaction::begin(database_));
  KF_TRY(auto insert,
         database_.prepare("INSERT INTO build(candidate, platform, task_key, march, command, seconds, "
                           "from_cache, artefact, log, created_at) VALUES (?,?,?,?,?,?,?,?,?,?)"));
  insert.bind(build.candidate)
      .bind(build.platform)
      .bind(build.task_key)
      .bind(build.march)
      .bind(build.command);
  insert.bind(build.seconds)
      .bind(std::int64_t{build.from_cache})
      .bind(artefact)
      .bind(build.log)
      .bind(utc_now());
  KF_TRY_VOID(insert.run());
  std::int64_t id = database_.last_row_id();
  KF_TRY_VOID(transaction.commit());
  return id;
}

}  // namespace kforge

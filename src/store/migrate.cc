#include "store/migrate.h"

namespace kforge {
namespace {

// "KFrg": marks the file as KForge's, so that another program's database is never written to.
constexpr std::int64_t kApplicationId = 0x4b467267;

Result<std::int64_t> pragma(Database& database, const char* name) {
  KF_TRY(auto statement, database.prepare(fmt::format("PRAGMA {}", name)));
  KF_TRY(bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Result<bool> is_empty(Database& database) {
  KF_TRY(auto statement, database.prepare("SELECT count(*) FROM sqlite_master"));
  KF_TRY(bool row, statement.step());
  return row && statement.integer(0) == 0;
}

Result<void> check_owner(Database& database, std::int64_t version) {
  KF_TRY(std::int64_t id, pragma(database, "application_id"));
  KF_TRY(bool empty, is_empty(database));
  if (id == kApplicationId || (version == 0 && empty)) return {};
  return fail_with_remedy("set KFORGE_HOME to a folder of KForge's own",
                          "the store's file is a database of another program");
}

Result<void> check_not_newer(std::int64_t version, std::int64_t known) {
  if (version <= known) return {};
  return fail_with_remedy(
      "use the newer KForge, or set KFORGE_HOME to another folder for this one",
      fmt::format("the store was written by a newer KForge (store version {}, this one knows {})", version,
                  known));
}

}  // namespace

Result<void> migrate(Database& database, std::span<const Migration> migrations) {
  const std::int64_t known = migrations.back().version;
  KF_TRY(std::int64_t version, pragma(database, "user_version"));
  KF_TRY_VOID(check_owner(database, version));
  KF_TRY_VOID(check_not_newer(version, known));
  if (version == known) return {};

  KF_TRY(auto transaction, Transaction::begin(database));
  // Another process may have migrated while this one waited for the lock.
  KF_TRY(version, pragma(database, "user_version"));
  KF_TRY_VOID(check_not_newer(version, known));
  for (const Migration& migration : migrations) {
    if (migration.version <= version) continue;
    if (auto done = database.execute(std::string(migration.sql)); !done)
      return fail_with_remedy(done.error().remedy, fmt::format("migration {} of the store failed: {}",
                                                               migration.name, done.error().message));
  }
  KF_TRY_VOID(database.execute(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId, known)));
  return transaction.commit();
}

}  // namespace kforge

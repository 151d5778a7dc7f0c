#include "store/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

#include "base/fd.h"

namespace kforge {
namespace {

constexpr int kBusyMilliseconds = 20'000;

// What the user can do about an error of SQLite, by its primary code.
std::string remedy_for(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return "free some disk space, or set KFORGE_HOME to a folder on another disk";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process holds the store; wait for it or end it";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "the store is damaged: move it away (a new one is made), or read it with sqlite3's .recover";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return "set KFORGE_HOME to a folder that KForge may write";
    default:
      return "";
  }
}

std::unexpected<Error> sqlite_error(sqlite3* connection, std::string_view doing) {
  const char* file = sqlite3_db_filename(connection, "main");
  return fail_with_remedy(
      remedy_for(sqlite3_extended_errcode(connection)),
      fmt::format("cannot {} the store {}: {}", doing, file ? file : "", sqlite3_errmsg(connection)));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(std::string_view text) {
  // SQLite copies: the caller's text need not outlive this call.
  sqlite3_bind_text64(statement_.get(), ++bound_, text.data() ? text.data() : "", text.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement& Statement::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), ++bound_, value);
  return *this;
}
Statement& Statement::bind(double value) {
  sqlite3_bind_double(statement_.get(), ++bound_, value);
  return *this;
}
Statement& Statement::bind(std::nullopt_t) {
  sqlite3_bind_null(statement_.get(), ++bound_);
  return *this;
}

Result<bool> Statement::step() {
  int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_error(connection_, sqlite3_stmt_readonly(statement_.get()) ? "read" : "write");
}

Result<void> Statement::run() {
  KF_TRY(bool row, step());
  KF_CHECK(!row, "a statement that should give no rows gave one");
  return {};
}

std::string Statement::text(int column) const {
  auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return text ? std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)))
              : "";
}
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::optional<double> Statement::optional_real(int column) const {
  if (is_null(column)) return std::nullopt;
  return real(column);
}

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Result<Database> Database::open(const std::filesystem::path& file) {
  Database database;
  sqlite3* connection = nullptr;
  // The store holds secrets: made readable for its owner alone (SQLite gives its log files the same mode).
  // Only a file that is not there yet may be opened here: closing it again would drop the locks that another
  // connection of this process holds on it, and a second process would take the log away from under both.
  Fd created(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  created.reset();
  int code = sqlite3_open_v2(file.c_str(), &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  database.connection_.reset(connection);
  if (code == SQLITE_OK) {
    sqlite3_busy_timeout(connection, kBusyMilliseconds);
    // In WAL mode "normal" never damages the file; only a power cut can lose the last commits. Of several
    // processes that make a new store at once SQLite turns some away without waiting, whatever the timeout
    // says.
    auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyMilliseconds);
    do {
      code = sqlite3_exec(connection,
                          "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; "
                          "PRAGMA trusted_schema=OFF;",
                          nullptr, nullptr, nullptr);
      if (code == SQLITE_BUSY) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    } while (code == SQLITE_BUSY && std::chrono::steady_clock::now() < deadline);
  }
  if (code != SQLITE_OK)
    return fail_with_remedy(remedy_for(code),
                            fmt::format("cannot open the store {}: {}", file.string(),
                                        connection ? sqlite3_errmsg(connection) : "out of memory"));
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK)
    return sqlite_error(connection_.get(), "use");
  return Statement(connection_.get(), statement);
}

Result<void> Database::execute(const std::string& script) {
  if (sqlite3_exec(connection_.get(), script.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return sqlite_error(connection_.get(), "write");
  return {};
}

std::int64_t Database::last_row_id() const { return sqlite3_last_insert_rowid(connection_.get()); }

Result<Transaction> Transaction::begin(Database& database) {
  KF_TRY_VOID(database.execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::~Transaction() {
  // After a full disk SQLite may have rolled back by itself; then this does nothing.
  if (database_) (void)database_->execute("ROLLBACK");
}

Result<void> Transaction::commit() {
  KF_TRY_VOID(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace kforge

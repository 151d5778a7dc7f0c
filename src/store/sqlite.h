// SQLite behind Result<>: a connection, a prepared statement, a transaction. Nothing of KForge's tables is
// known here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kforge {

// Columns that are NULL where there is nothing to say.
inline std::optional<std::string_view> null_if_empty(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}

class Statement {
 public:
  // Binds the next parameter, in the order of the question marks.
  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::nullopt_t);
  template <class T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind(std::nullopt);
  }

  // True when there is a row to read, false at the end.
  Result<bool> step();
  // Runs a statement that gives no rows.
  Result<void> run();

  std::string text(int column) const;  // "" for NULL
  std::int64_t integer(int column) const;
  double real(int column) const;
  bool is_null(int column) const;
  std::optional<double> optional_real(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* connection, sqlite3_stmt* statement) : connection_(connection), statement_(statement) {}

  sqlite3* connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
};

class Database {
 public:
  // Opens or creates the file, for several processes at once: write-ahead log, waits for the others' locks.
  static Result<Database> open(const std::filesystem::path& file);

  Result<Statement> prepare(std::string_view sql);
  // One or more statements without parameters or rows.
  Result<void> execute(const std::string& script);
  std::int64_t last_row_id() const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

// A write transaction: the lock is taken at once, so that a read inside it stays true until the commit.
// Rolled back when it dies uncommitted.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;
};

}  // namespace kforge

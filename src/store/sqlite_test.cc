#include "store/sqlite.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"

namespace kforge {
namespace {

class SqliteTest : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  fs::path file_ = folder_.path() / "test.db";
};

TEST_F(SqliteTest, BindsAndReadsEveryType) {
  auto database = Database::open(file_);
  ASSERT_TRUE(database) << database.error().text();
  ASSERT_TRUE(database->execute("CREATE TABLE t(a TEXT, b INTEGER, c REAL, d TEXT)"));
  std::string zero_inside("x\0y", 3);
  ASSERT_TRUE(database->prepare("INSERT INTO t VALUES (?,?,?,?)")
                  ->bind(zero_inside)
                  .bind(std::int64_t{-7})
                  .bind(0.25)
                  .bind(std::nullopt)
                  .run());
  auto row = database->prepare("SELECT a, b, c, d FROM t");
  ASSERT_TRUE(*row->step());
  EXPECT_EQ(row->text(0), zero_inside);
  EXPECT_EQ(row->integer(1), -7);
  EXPECT_EQ(row->real(2), 0.25);
  EXPECT_TRUE(row->is_null(3));
  EXPECT_EQ(row->text(3), "");
  EXPECT_FALSE(*row->step());
}

TEST_F(SqliteTest, TransactionWithoutCommitIsRolledBack) {
  auto database = Database::open(file_);
  ASSERT_TRUE(database->execute("CREATE TABLE t(a INTEGER)"));
  {
    auto transaction = Transaction::begin(*database);
    ASSERT_TRUE(database->execute("INSERT INTO t VALUES (1)"));
  }
  {
    auto transaction = Transaction::begin(*database);
    ASSERT_TRUE(database->execute("INSERT INTO t VALUES (2)"));
    ASSERT_TRUE(transaction->commit());
  }
  auto sum = database->prepare("SELECT sum(a) FROM t");
  ASSERT_TRUE(*sum->step());
  EXPECT_EQ(sum->integer(0), 2);
}

TEST_F(SqliteTest, FileIsForItsOwnerAlone) {
  ASSERT_TRUE(Database::open(file_));
  struct stat info {};
  ASSERT_EQ(::stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(SqliteTest, FileThatIsNoDatabaseGetsARemedy) {
  ASSERT_TRUE(write_file_atomic(file_, std::string(4096, 'x')));
  auto database = Database::open(file_);
  ASSERT_FALSE(database);
  EXPECT_NE(database.error().text().find("move it away"), std::string::npos) << database.error().text();
}

TEST_F(SqliteTest, FolderThatIsMissingGetsARemedy) {
  auto database = Database::open(folder_.path() / "missing" / "test.db");
  ASSERT_FALSE(database);
  EXPECT_NE(database.error().remedy.find("KFORGE_HOME"), std::string::npos) << database.error().text();
}

TEST_F(SqliteTest, BadStatementIsAnErrorNotACrash) {
  auto database = Database::open(file_);
  EXPECT_FALSE(database->prepare("SELECT nonsense FROM nowhere"));
  EXPECT_FALSE(database->execute("CREATE TABLE t("));
}

// Locks belong to a process, and closing any descriptor of a file drops them all: opening a second connection
// must not open and close the file beside SQLite.
TEST(Database, ASecondConnectionKeepsTheLocksOfTheFirst) {
  TempDir folder = *TempDir::create();
  fs::path file = folder.path() / "store.db";
  Database first = *Database::open(file);
  ASSERT_TRUE(first.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1)"));
  Database second = *Database::open(file);
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // another process sees the lock
    int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    bool asked = ::fcntl(fd, F_GETLK, &lock) == 0;
    ::_exit(asked && lock.l_type != F_UNLCK ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the shared lock on the store is gone";
}

}  // namespace
}  // namespace kforge

#include "store/migrate.h"

#include <gtest/gtest.h>

#include "base/files.h"

namespace kforge {
namespace {

constexpr Migration kFirst[] = {{1, "schema.sql", "CREATE TABLE a(x INTEGER);"}};
constexpr Migration kTwo[] = {
    kFirst[0], {2, "0002_more.sql", "ALTER TABLE a ADD COLUMN y TEXT; INSERT INTO a VALUES (5, 'new');"}};
constexpr Migration kBroken[] = {
    kFirst[0], {2, "0002_broken.sql", "CREATE TABLE b(x INTEGER); INSERT INTO nowhere VALUES (1);"}};

class MigrateTest : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  fs::path file_ = folder_.path() / "store.db";
  Database database_ = *Database::open(file_);

  std::int64_t number(const std::string& sql) {
    auto query = database_.prepare(sql);
    EXPECT_TRUE(query) << sql;
    return query && *query->step() ? query->integer(0) : -1;
  }
};

TEST_F(MigrateTest, NewStoreGetsTheEmbeddedSchema) {
  auto done = migrate(database_, all_migrations());
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(number("PRAGMA user_version"), all_migrations().back().version);
  EXPECT_EQ(number("SELECT count(*) FROM result"), 0);
}

TEST_F(MigrateTest, EmbeddedVersionsCountWithoutGaps) {
  for (int expected = 1; const Migration& migration : all_migrations())
    EXPECT_EQ(migration.version, expected++);
}

TEST_F(MigrateTest, OldStoreKeepsItsRecordsAndGetsTheNewParts) {
  ASSERT_TRUE(migrate(database_, kFirst));
  ASSERT_TRUE(database_.execute("INSERT INTO a VALUES (3)"));
  ASSERT_TRUE(migrate(database_, kTwo));
  EXPECT_EQ(number("SELECT sum(x) FROM a"), 8);
  EXPECT_EQ(number("PRAGMA user_version"), 2);
}

TEST_F(MigrateTest, RunsEachMigrationOnce) {
  ASSERT_TRUE(migrate(database_, kTwo));
  ASSERT_TRUE(migrate(database_, kTwo));
  EXPECT_EQ(number("SELECT count(*) FROM a"), 1);
}

TEST_F(MigrateTest, FailedMigrationLeavesTheOldStoreWhole) {
  ASSERT_TRUE(migrate(database_, kFirst));
  auto done = migrate(database_, kBroken);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("0002_broken.sql"), std::string::npos) << done.error().text();
  EXPECT_EQ(number("PRAGMA user_version"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_master WHERE name = 'b'"), 0);
}

TEST_F(MigrateTest, StoreOfANewerKForgeIsRefused) {
  ASSERT_TRUE(migrate(database_, kTwo));
  auto done = migrate(database_, kFirst);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("newer KForge"), std::string::npos) << done.error().text();
  EXPECT_FALSE(done.error().remedy.empty());
  EXPECT_EQ(number("PRAGMA user_version"), 2);
}

TEST_F(MigrateTest, DatabaseOfAnotherProgramIsRefused) {
  ASSERT_TRUE(database_.execute("CREATE TABLE bookmarks(url TEXT)"));
  auto done = migrate(database_, kFirst);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("another program"), std::string::npos);
}

}  // namespace
}  // namespace kforge

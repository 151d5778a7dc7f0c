#include "suite/suite_folder.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "suite/sample_records.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class Folder : public testing::Test {
 protected:
  Folder() { ::setenv("KFORGE_HOME", (dir_.path() / "home").c_str(), 1); }
  ~Folder() override { ::unsetenv("KFORGE_HOME"); }

  static SuitePlan plan() {
    SuitePlan plan;
    plan.name = "core";
    plan.tasks = {{"core/a", "core/a"}, {"core/b", "core/b"}};
    plan.platforms = {"cpu", "./my npu"};
    plan.variants = {{}, {"without example", {"--without", "example"}}};
    plan.arguments = {"--budget", "5s"};
    return plan;
  }

  TempDir dir_ = TempDir::create().value();
};

TEST_F(Folder, HasAFileForEveryTaskPlatformAndVariant) {
  std::set<std::string> paths;
  for (const SuiteItem& item : items_of(plan())) paths.insert(item.path());
  EXPECT_EQ(paths.size(), 8u);
  EXPECT_TRUE(paths.contains("cpu without example/core/b"));
  EXPECT_TRUE(paths.contains("._my npu/core/a"));
}

TEST_F(Folder, IsFoundByIdPrefixPathAndLast) {
  auto made = SuiteFolder::create(plan(), "");
  ASSERT_TRUE(made) << made.error().message;
  auto elsewhere = SuiteFolder::create(plan(), dir_.path() / "there");
  ASSERT_TRUE(elsewhere) << elsewhere.error().message;
  EXPECT_EQ(SuiteFolder::find(made->plan().id)->path(), fs::canonical(made->path()));
  EXPECT_EQ(SuiteFolder::find(elsewhere->plan().id)->path(), fs::canonical(dir_.path() / "there"));
  EXPECT_EQ(SuiteFolder::find((dir_.path() / "there").string())->plan().id, elsewhere->plan().id);
  EXPECT_EQ(SuiteFolder::find("last")->plan().id, std::max(made->plan().id, elsewhere->plan().id));
  EXPECT_EQ(SuiteFolder::find(made->plan().id)->plan().key(), plan().key());
  EXPECT_FALSE(SuiteFolder::find("2"));  // fits both
  EXPECT_THAT(SuiteFolder::find("nosuch").error().message, HasSubstr("there is no suite nosuch"));
}

TEST_F(Folder, TheKeyIsThatOfWhatIsAskedFor) {
  SuitePlan same = plan(), other = plan();
  same.id = "2x";
  same.created_at = "now";
  same.working_folder = "/elsewhere";
  other.arguments.back() = "6s";
  EXPECT_EQ(same.key(), plan().key());
  EXPECT_NE(other.key(), plan().key());
}

TEST_F(Folder, KeepsRecordsAndDoesBrokenOnesAgain) {
  auto folder = SuiteFolder::create(plan(), "");
  ASSERT_TRUE(folder);
  const std::vector<SuiteItem> items = items_of(plan());
  EXPECT_FALSE(folder->record(items[0]));
  ASSERT_TRUE(folder->save(items[0], verified_record("core/a", 2, 1.5, 3)));
  ASSERT_TRUE(folder->save(items[3], failed_record("core/b")));
  EXPECT_EQ(folder->record(items[0])->speedup->value, 2);
  EXPECT_EQ(folder->records().size(), 2u);
  ASSERT_TRUE(write_file_atomic(folder->path() / "records" / (items[0].path() + ".json"), "{\"task\": 3"));
  EXPECT_FALSE(folder->record(items[0]));
  folder->forget(items[3]);
  EXPECT_TRUE(folder->records().empty());
}

TEST_F(Folder, OnlyOneProcessWorksOnASuite) {
  auto folder = SuiteFolder::create(plan(), "");
  ASSERT_TRUE(folder);
  {
    auto alone = folder->hold();
    ASSERT_TRUE(alone);
    EXPECT_TRUE(folder->held());
    EXPECT_THAT(folder->hold().error().message, HasSubstr("another process works on suite"));
  }
  EXPECT_TRUE(folder->hold());
}

TEST_F(Folder, DoesNotWriteAmongForeignFiles) {
  ASSERT_TRUE(write_file_atomic(dir_.path() / "mine.txt", "x"));
  auto folder = SuiteFolder::create(plan(), dir_.path());
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("is not empty"));
}

}  // namespace
}  // namespace kforge

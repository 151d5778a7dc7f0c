// Lists of results: filtered, searched, sorted, page by page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/store.h"

namespace kforge {
namespace {

using testing::ElementsAre;

class FindResultsTest : public testing::Test {
 protected:
  TempDir folder_ = *TempDir::create();
  Store store_ = *Store::open(folder_.path());

  void SetUp() override {
    save("000000000001", "core/softmax", "cpu", "passed", 2.0);
    save("000000000002", "core/gemm", "cpu", "wrong_value", std::nullopt);
    save("000000000003", "llm/softmax", "cuda", "passed", std::nullopt);
    save("000000000004", "core/gemm", "cpu", "passed", 0.5);
  }

  void save(const std::string& id, const std::string& task, const std::string& platform,
            const std::string& outcome, std::optional<double> speedup) {
    StoredResult result;
    result.id = id;
    result.created_at = "2026-01-01T00:00:00Z";
    result.task = task;
    result.platform = platform;
    result.outcome = outcome;
    result.speedup = speedup;
    result.machine = platform == "cuda" ? "m2" : "m1";
    result.document = R"({"kernel":{"path":"kernels/K)" + id.substr(11) +
                      R"(.cc"},"machine":{"text":"A machine"},"speedup":)" +
                      (speedup ? R"({"lo":0.25,"hi":4})" : "null") + "}";
    ASSERT_TRUE(store_.save_result(result));
  }

  std::vector<std::string> ids(const ResultQuery& query) {
    auto page = store_.find_results(query);
    EXPECT_TRUE(page) << page.error().text();
    std::vector<std::string> last;
    for (const ResultRow& row : page->rows) last.push_back(row.id.substr(11));
    return last;
  }
};

TEST_F(FindResultsTest, FiltersByEveryColumn) {
  EXPECT_THAT(ids({}), ElementsAre("4", "3", "2", "1"));
  EXPECT_THAT(ids({.task = "softmax"}), ElementsAre("3", "1"));
  EXPECT_THAT(ids({.task = "core/gemm", .outcome = "passed"}), ElementsAre("4"));
  EXPECT_THAT(ids({.platform = "cuda"}), ElementsAre("3"));
  EXPECT_THAT(ids({.machine = "m1"}), ElementsAre("4", "2", "1"));
}

TEST_F(FindResultsTest, SearchesNamesAndKernelsAsText) {
  EXPECT_THAT(ids({.search = "SOFT"}), ElementsAre("3", "1"));
  EXPECT_THAT(ids({.search = "kernels/k2.cc"}), ElementsAre("2"));
  EXPECT_THAT(ids({.search = "%"}), ElementsAre()) << "no pattern";
  EXPECT_THAT(ids({.search = "' OR 1=1 --"}), ElementsAre());
}

TEST_F(FindResultsTest, RowsWithoutAValueComeLastEitherWay) {
  EXPECT_THAT(ids({.sort = ResultOrder::kSpeedup}), ElementsAre("1", "4", "3", "2"));
  EXPECT_THAT(ids({.sort = ResultOrder::kSpeedup, .ascending = true}), ElementsAre("4", "1", "3", "2"));
}

TEST_F(FindResultsTest, PagesKnowHowManyThereAre) {
  auto page = *store_.find_results({.limit = 2, .offset = 2});
  EXPECT_EQ(page.total, 4u);
  ASSERT_EQ(page.rows.size(), 2u);
  EXPECT_EQ(page.rows[0].kernel, "kernels/K2.cc");
  EXPECT_FALSE(page.rows[0].speedup_lo);
  EXPECT_EQ(page.rows[1].speedup_lo, 0.25);
  EXPECT_EQ(page.rows[1].speedup_hi, 4);
  EXPECT_EQ(store_.find_results({.limit = 3, .offset = 3})->total, 4u);
  EXPECT_EQ(store_.find_results({.limit = 3, .offset = 30})->total, 4u) << "beyond the last page";
}

TEST_F(FindResultsTest, MachinesAndPlatformsOfResults) {
  auto machines = *store_.machines();
  ASSERT_EQ(machines.size(), 2u);
  EXPECT_EQ(machines[0].id, "m1");
  EXPECT_EQ(machines[0].results, 3u);
  EXPECT_EQ(machines[0].text, "A machine");
  EXPECT_EQ(machines[0].last_result, "000000000004");
  EXPECT_THAT(*store_.platforms(), ElementsAre("cpu", "cuda"));
}

}  // namespace
}  // namespace kforge

// The passes over every task: valid after each, printable, timed.
#include <gtest/gtest.h>

#include "smith/pipeline.h"
#include "smith_problem.h"

namespace kforge {
namespace {

Machine a_machine() {
  Machine machine;
  machine.features = {"avx2", "fma"};
  machine.cpus = {0, 1};
  return machine;
}

smith::Problem problem_of(const Task& task) {
  auto bound = bind_task(task, "small");
  EXPECT_TRUE(bound) << bound.error().text();
  return smith_problem(*bound, a_machine(), 2);
}

TEST(SmithPasses, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names = {"lower"};
  for (const smith::Pass& pass : smith::passes()) EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
  EXPECT_GE(names.size(), 9u);
}

TEST(SmithPasses, EveryTaskIsAValidProgramAfterEachOfThem) {
  // A program that is not valid ends the test: it is a bug.
  auto tasks = load_all_tasks();
  ASSERT_TRUE(tasks) << tasks.error().text();
  for (const Task& task : *tasks)
    EXPECT_TRUE(smith::run_passes(problem_of(task), {.check = true})) << task.name;
}

TEST(SmithPasses, AreTimedAndPrintableOneByOne) {
  auto task = load_task("gemm_scale_leakyrelu");
  ASSERT_TRUE(task) << task.error().text();
  const smith::Problem problem = problem_of(*task);
  std::vector<smith::PassTime> times;
  ASSERT_TRUE(smith::run_passes(problem, {.times = &times}));
  EXPECT_EQ(times.size(), smith::passes().size() + 1);
  std::string lowered, matched;
  ASSERT_TRUE(smith::run_passes(problem, {.dump_after = "lower", .dump = &lowered}));
  ASSERT_TRUE(smith::run_passes(problem, {.dump_after = "match_contractions", .dump = &matched}));
  EXPECT_NE(lowered.find("sum over"), std::string::npos) << lowered;
  EXPECT_NE(matched.find("contraction with its epilogue"), std::string::npos) << matched;
}

}  // namespace
}  // namespace kforge

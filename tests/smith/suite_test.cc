// Every task of the suites, on small and odd shapes: the smith's program compiled and compared with the truth
// under the same bounds as the gates, for every kind of input.
#include <gtest/gtest.h>

#include "compiled_kernels.h"
#include "judged.h"
#include "smith_problem.h"

namespace kforge {
namespace {

struct Case {
  std::string name;
  BoundTask task;
};

void check_suite(const std::string& suite, const std::vector<std::string>& shape_sets) {
  auto tasks = load_all_tasks(suite);
  ASSERT_TRUE(tasks) << tasks.error().text();
  auto machine = describe_machine();
  ASSERT_TRUE(machine);
  const char* only = std::getenv("SMITH_TASK");
  std::vector<BoundTask> bound;
  std::vector<KernelSource> sources;
  for (const Task& task : *tasks)
    for (const std::string& shapes : shape_sets) {
      if (only && task.name.find(only) == std::string::npos) continue;
      auto b = bind_task(task, shapes);
      ASSERT_TRUE(b) << b.error().text();
      smith::Problem problem = smith_problem(*b, *machine, 2);
      auto design = smith::first_design(problem);
      ASSERT_TRUE(design) << task.name << ": " << design.error().text();
      sources.push_back({std::move(problem), design->source});
      bound.push_back(std::move(*b));
    }
  auto calls = compile_kernels(sources, instruction_sets(*machine)[0], 8);
  ASSERT_TRUE(calls) << calls.error().text();
  for (std::size_t i = 0; i < bound.size(); ++i)
    EXPECT_EQ(judge(bound[i], (*calls)[i]), "") << bound[i].task->name << " " << bound[i].shape_set;
}

TEST(SmithSuite, CoreSmall) { check_suite("core", {"small"}); }
TEST(SmithSuite, CoreOdd) { check_suite("core", {"odd"}); }
TEST(SmithSuite, Fusion) { check_suite("fusion", {"small", "odd"}); }
TEST(SmithSuite, Llm) { check_suite("llm", {"small", "odd"}); }

}  // namespace
}  // namespace kforge

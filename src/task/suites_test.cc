// Every task that ships: it loads, binds on every shape set, has a hidden shape, and its inputs can be made.
#include <gtest/gtest.h>

#include "task/inputs.h"
#include "task/task.h"

namespace kforge {
namespace {

TEST(Suites, EveryTaskLoadsAndBinds) {
  auto tasks = load_all_tasks();
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_FALSE(tasks->empty());
  for (const Task& task : *tasks) {
    SCOPED_TRACE(task.suite + "/" + task.name);
    for (const auto& [set, cases] : task.shapes)
      for (std::size_t i = 0; i < cases.size(); ++i) {
        auto bound = bind_task(task, set, i);
        ASSERT_TRUE(bound) << bound.error().message;
        EXPECT_GT(bound->cost.compulsory_bytes, 0);
      }
    auto hidden = bind_hidden_shapes(task, 42);
    ASSERT_TRUE(hidden) << hidden.error().message;
    EXPECT_GT(hidden->size(), 1u) << "no dimension can be long";
  }
}

TEST(Suites, InputsOfSmallShapesCanBeMade) {
  auto tasks = load_all_tasks();
  ASSERT_TRUE(tasks);
  for (const Task& task : *tasks) {
    auto bound = bind_task(task, "small");
    ASSERT_TRUE(bound) << bound.error().message;
    exact_on_integers(*bound);
    for (std::size_t a = 0; a < bound->arguments.size(); ++a) {
      const BoundArgument& argument = bound->arguments[a];
      if (argument.role == Role::kOutput) continue;
      std::vector<std::byte> memory(argument.bytes());
      for (InputKind kind : kAllInputKinds) fill_argument(argument, kind, 1, a, memory);
    }
  }
}

TEST(Suites, AnUnknownSuiteIsNamed) {
  auto tasks = load_all_tasks("cor");
  ASSERT_FALSE(tasks);
  EXPECT_NE(tasks.error().message.find("core"), std::string::npos);
}

}  // namespace
}  // namespace kforge

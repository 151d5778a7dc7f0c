// The suites as data: complete, named once, and every shape set fits its graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "task/task.h"

namespace kforge {
namespace {

const std::vector<Task>& all_tasks() {
  static const Result<std::vector<Task>> tasks = load_all_tasks();
  static const std::vector<Task> none;
  EXPECT_TRUE(tasks.has_value()) << tasks.error().message;
  return tasks ? *tasks : none;
}

std::set<std::string> origins() {
  std::set<std::string> found;
  for (const Task& task : all_tasks()) found.insert(task.origin);
  return found;
}

std::vector<int> missing_problems(const std::string& level) {
  std::set<std::string> have = origins();
  std::vector<int> missing;
  for (int n = 1; n <= 100; ++n) {
    if (!have.contains(level + " #" + std::to_string(n))) missing.push_back(n);
  }
  return missing;
}

bool starts_with_matrix_product(const Task& task) {
  for (const Node& node : task.graph.nodes) {
    if (node.op == "Gemm" || node.op == "MatMul") return true;
    if (node.op == "Conv" || node.op == "ConvTranspose") return false;
  }
  return false;
}

std::size_t argument_bytes(const BoundTask& task) {
  std::size_t bytes = 0;
  for (const BoundArgument& argument : task.arguments) bytes += argument.bytes();
  return bytes;
}

TEST(Suites, AreLargeEnough) {
  std::map<std::string, int> count;
  for (const Task& task : all_tasks()) ++count[task.suite];
  EXPECT_GE(count["core"], 60);
  EXPECT_GE(count["fusion"], 62);
  EXPECT_GE(count["llm"], 12);
}

TEST(Suites, NameEveryTaskOnce) {
  std::set<std::string> names, descriptions;
  for (const Task& task : all_tasks()) {
    EXPECT_TRUE(names.insert(task.name).second) << task.name << " is in two suites";
    EXPECT_TRUE(descriptions.insert(task.description).second)
        << task.suite << "/" << task.name << " has another's description";
    EXPECT_EQ(task.graph.name, task.name) << "the graph's name differs from the folder's";
  }
}

TEST(Suites, FollowEveryProblemOfKernelBenchLevels1And2) {
  EXPECT_THAT(missing_problems("KernelBench level 1"), testing::IsEmpty());
  EXPECT_THAT(missing_problems("KernelBench level 2"), testing::IsEmpty());
}

TEST(Suites, EveryShapeSetBindsToNumbers) {
  for (const Task& task : all_tasks()) {
    for (const char* required : {"bench", "small", "odd"})
      EXPECT_TRUE(task.shapes.contains(required)) << task.name << " " << required;
    for (const auto& [set, cases] : task.shapes) {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        Result<BoundTask> bound = bind_task(task, set, i);
        ASSERT_TRUE(bound.has_value()) << task.name << " " << set << ": " << bound.error().message;
        for (const auto& [value, type] : bound->graph.types)
          EXPECT_TRUE(type.concrete()) << task.name << " " << set << ": " << value;
      }
    }
  }
}

TEST(Suites, HiddenShapesBindToo) {
  for (const Task& task : all_tasks()) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Result<std::vector<BoundTask>> bound = bind_hidden_shapes(task, seed);
      EXPECT_TRUE(bound.has_value()) << task.name << " seed " << seed << ": " << bound.error().message;
    }
  }
}

// Checks run on `small` and `odd` many times per evaluation, so they must cost nothing; `bench` must be worth
// timing, and small enough that several sets of buffers fit into memory at once.
TEST(Suites, SizesFitTheirPurpose) {
  for (const Task& task : all_tasks()) {
    for (const char* set : {"small", "odd"}) {
      Result<BoundTask> bound = bind_task(task, set);
      ASSERT_TRUE(bound.has_value()) << bound.error().message;
      EXPECT_LT(bound->cost.flops, 2e7) << task.name << " " << set;
      EXPECT_LT(argument_bytes(*bound), 4u << 20) << task.name << " " << set;
    }
    Result<BoundTask> bench = bind_task(task, "bench");
    ASSERT_TRUE(bench.has_value()) << bench.error().message;
    EXPECT_TRUE(bench->cost.flops > 1e8 || bench->cost.compulsory_bytes > 3e7)
        << task.name << " is over in no time";
    EXPECT_LT(argument_bytes(*bench), 320u << 20) << task.name;
  }
}

TEST(Suites, GemmChainsHaveTheFullSizeOfKernelBench) {
  int chains = 0;
  for (const Task& task : all_tasks()) {
    if (task.suite != "fusion" || !starts_with_matrix_product(task)) continue;
    ++chains;
    ASSERT_TRUE(task.shapes.contains("full")) << task.name;
    std::map<std::string, std::int64_t> full = task.shapes.at("full").front().dims;
    EXPECT_GE(full["B"] * full["K"] * full["N"], std::int64_t{1024} * 8192 * 1024) << task.name;
  }
  EXPECT_EQ(chains, 37);
}

}  // namespace
}  // namespace kforge

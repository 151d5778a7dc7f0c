// The suites as computations: every task runs in the oracle on its small shapes, its outputs are finite,
// spread out and depend on the inputs. A task that fails here could be passed by a kernel that computes
// nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "oracle/oracle.h"
#include "task/inputs.h"
#include "task/task.h"

namespace kforge {
namespace {

constexpr double kWideMargin = 1e-3;  // 200 times the fp32 tolerance

// Values for every argument; params always from the first seed, all others from `seed`.
Result<std::vector<OracleTensor>> run(const BoundTask& task, std::uint64_t seed) {
  std::vector<std::vector<std::byte>> data(task.arguments.size());
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const BoundArgument& argument = task.arguments[i];
    if (argument.role == Role::kOutput) continue;
    data[i].resize(argument.bytes());
    fill_argument(argument, InputKind::kOwn, argument.role == Role::kParam ? 1 : seed, i, data[i]);
    views.push_back({argument.name, argument.dtype, argument.shape, data[i].data()});
  }
  return run_oracle(task.graph, views, Precision::kFp64, 2);
}

std::vector<double> values_of(const OracleTensor& tensor) {
  if (auto* floats = std::get_if<std::vector<double>>(&tensor.values)) return *floats;
  auto& ints = std::get<std::vector<std::int64_t>>(tensor.values);
  return {ints.begin(), ints.end()};
}

double rms(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double deviation(const std::vector<double>& values) {
  double mean = 0;
  for (double value : values) mean += value / static_cast<double>(values.size());
  double sum = 0;
  for (double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return rms(difference);
}

void check_output(const std::string& what, const OracleTensor& first, const OracleTensor& second) {
  std::vector<double> values = values_of(first), others = values_of(second);
  ASSERT_FALSE(values.empty()) << what;
  for (double value : values) ASSERT_TRUE(std::isfinite(value)) << what;
  ASSERT_EQ(values.size(), others.size()) << what;
  double scale = rms(values);
  EXPECT_GT(scale, 0) << what << " is all zeros";
  if (values.size() > 1) {
    EXPECT_GT(deviation(values), kWideMargin * scale) << what << " is nearly constant";
  }
  EXPECT_GT(distance(values, others), kWideMargin * scale) << what << " hardly depends on the inputs";
}

void check_suite(const std::string& suite) {
  Result<std::vector<Task>> tasks = load_all_tasks(suite);
  ASSERT_TRUE(tasks.has_value()) << tasks.error().message;
  for (const Task& task : *tasks) {
    for (const char* set : {"small", "odd"}) {
      Result<BoundTask> bound = bind_task(task, set);
      ASSERT_TRUE(bound.has_value()) << bound.error().message;
      Result<std::vector<OracleTensor>> first = run(*bound, 2), second = run(*bound, 3);
      EXPECT_TRUE(first.has_value()) << task.name << " " << set << ": " << first.error().message;
      EXPECT_TRUE(second.has_value()) << task.name << " " << set << ": " << second.error().message;
      if (!first || !second) continue;
      for (std::size_t i = 0; i < first->size(); ++i) {
        check_output(task.name + " " + set + " " + task.graph.outputs[i].name, (*first)[i], (*second)[i]);
      }
    }
  }
}

TEST(SuiteValues, CoreIsFiniteAndNotDegenerate) { check_suite("core"); }
TEST(SuiteValues, FusionIsFiniteAndNotDegenerate) { check_suite("fusion"); }
TEST(SuiteValues, LlmIsFiniteAndNotDegenerate) { check_suite("llm"); }

}  // namespace
}  // namespace kforge

// Every task of the suites on its small and odd shapes: the plan against the oracle under the fp32 policy.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "baseline/onednn/plan.h"
#include "oracle/expected.h"

namespace kforge::onednn {
namespace {

struct Memory {
  std::vector<std::vector<std::byte>> tensors;
  std::vector<std::byte*> pointers;
};

Memory fill(const BoundTask& task, InputKind kind, std::uint64_t seed) {
  Memory memory;
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    memory.tensors.emplace_back(argument.bytes(), std::byte{0xff});
    if (argument.role != Role::kOutput) fill_argument(argument, kind, seed, a, memory.tensors.back());
  }
  for (auto& tensor : memory.tensors) memory.pointers.push_back(tensor.data());
  return memory;
}

double element(DType dtype, const std::byte* data, std::size_t i) {
  auto as = [&]<class T>(T) {
    T value;
    std::memcpy(&value, data + i * sizeof value, sizeof value);
    return value;
  };
  switch (dtype) {
    case DType::kFloat32:
      return as(float{});
    case DType::kFloat16:
      return float_from_fp16(as(std::uint16_t{}));
    case DType::kBFloat16:
      return float_from_bf16(as(std::uint16_t{}));
    case DType::kInt64:
      return static_cast<double>(as(std::int64_t{}));
    case DType::kInt32:
      return as(std::int32_t{});
    default:
      return as(std::uint8_t{});
  }
}

// The policy of verify/policy.h without its rows: stricter, but for rows that are far larger than the rest.
std::string check(const ExpectedOutput& expected, const std::byte* got) {
  double tolerance = expected.dtype == DType::kFloat32 ? 5e-6 : 2e-2;
  std::size_t row =
      expected.shape.empty() ? 1 : static_cast<std::size_t>(std::max<std::int64_t>(expected.shape.back(), 1));
  std::size_t count = std::max(expected.values.size(), expected.ints.size());
  for (std::size_t i = 0; i < count; ++i) {
    double a = element(expected.dtype, got, i);
    double b = is_float(expected.dtype) ? expected.values[i] : static_cast<double>(expected.ints[i]);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (expected.index_source) continue;  // another index may reach the same value
    double squares = 0;
    for (std::size_t j = i / row * row; j < std::min(count, i / row * row + row) && is_float(expected.dtype);
         ++j)
      squares += static_cast<double>(expected.values[j]) * expected.values[j];
    double scale = std::max({std::abs(b), expected.rms, std::sqrt(squares / static_cast<double>(row))});
    double bound = std::max(tolerance * scale, 4 * expected.yardstick_worst_abs);
    if (!is_float(expected.dtype) || !(std::abs(a - b) <= bound))
      return fmt::format("{}[{}] is {} and should be {} (bound {})", expected.name, i, a, b, bound);
  }
  return "";
}

std::string run(const Task& task, const std::string& set, std::string* absent) {
  auto bound = bind_task(task, set);
  if (!bound) return bound.error().message;
  auto plan = Plan::make(*bound);
  if (!plan) {
    *absent = plan.error().message;
    return "";
  }
  // oneDNN's reference code is no baseline: it is there to be compared with, not to be fast.
  for (const Step& step : (*plan)->steps())
    if (step.what.find(": ref") != std::string::npos) return "reference code: " + step.what;
  for (InputKind kind : {InputKind::kOwn, InputKind::kShifted, InputKind::kInteger, InputKind::kHeavyTail}) {
    Memory memory = fill(*bound, kind, 7);
    auto expected = expected_outputs(*bound, kind, 7, 1, nullptr);
    if (!expected) return expected.error().message;
    if (!expected->yardstick_finite) continue;
    (*plan)->prepare(memory.pointers);
    (*plan)->call(memory.pointers);
    for (std::size_t a = 0; a < bound->arguments.size(); ++a) {
      const BoundArgument& argument = bound->arguments[a];
      if (argument.role != Role::kOutput && argument.role != Role::kInout) continue;
      const std::string& name = argument.role == Role::kInout ? argument.output : argument.name;
      auto output = std::ranges::find(expected->outputs, name, &ExpectedOutput::name);
      if (output == expected->outputs.end()) return "no expected value for " + name;
      if (std::string why = check(*output, memory.pointers[a]); !why.empty())
        return fmt::format("{} inputs: {}", name_of(kind), why);
    }
  }
  return "";
}

class OneDnnTasks : public ::testing::TestWithParam<const char*> {};

TEST_P(OneDnnTasks, AgreeWithTheOracle) {
  omp_set_num_threads(1);  // small tensors: waking threads would only slow it down
  auto tasks = load_all_tasks(GetParam());
  ASSERT_TRUE(tasks) << tasks.error().text();
  ASSERT_FALSE(tasks->empty());
  for (const Task& task : *tasks)
    for (const char* set : {"small", "odd"}) {
      std::string absent, why = run(task, set, &absent);
      EXPECT_EQ(why, "") << task.suite << "/" << task.name << " " << set;
      EXPECT_EQ(absent, "") << task.suite << "/" << task.name << " " << set;
    }
}

INSTANTIATE_TEST_SUITE_P(Suites, OneDnnTasks, ::testing::Values("core", "fusion", "llm"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kforge::onednn

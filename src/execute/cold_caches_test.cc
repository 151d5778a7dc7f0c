#include "execute/cold_caches.h"

#include <gtest/gtest.h>

#include "machine/flush_lines.h"

namespace kforge {
namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kFull = 100 * kMiB;  // a core's, as on a large server
constexpr std::size_t kCores = 2;

BoundTask task_of(std::int64_t input, std::int64_t param) {
  BoundTask task;
  for (auto [name, role, count] :
       {std::tuple{"x", Role::kInput, input}, {"w", Role::kParam, param}, {"y", Role::kOutput, input}}) {
    BoundArgument argument;
    argument.c_name = name;
    argument.role = role;
    argument.dtype = DType::kFloat32;
    argument.shape = {count};
    task.arguments.push_back(argument);
  }
  return task;
}

std::size_t stream_after(const BoundTask& task) {
  auto memory = InputMemory::create_for_turns(task, 2);
  EXPECT_TRUE(memory);
  const std::vector<std::uint32_t> slots = {1};
  memory->inputs.tensor(0, 1)[0] = std::byte{42};
  const std::size_t stream = flush_tensors(task, *memory, *memory->outputs, slots, kFull, kCores);
  EXPECT_EQ(memory->inputs.tensor(0, 1)[0], std::byte{42});
  return stream;
}

TEST(ColdCaches, TensorsAreFlushedAndLittleIsStreamed) {
  if (!can_flush_lines()) GTEST_SKIP() << "this processor has no clflushopt";
  EXPECT_EQ(stream_after(task_of(1000, 10)), 32 * kMiB);
  EXPECT_EQ(stream_after(task_of(3'000'000, 10)), 32 * kMiB) << "large tensors come into view and go";
}

TEST(ColdCaches, AProgramsOwnCopyOfTheParamsIsPushedOut) {
  if (!can_flush_lines()) GTEST_SKIP() << "this processor has no clflushopt";
  EXPECT_EQ(stream_after(task_of(1000, 100'000)), kFull / 2);
}

TEST(ColdCaches, MoreThanTheCachesHoldIsNotFlushed) {
  EXPECT_EQ(stream_after(task_of(30'000'000, 10)), kFull);
}

}  // namespace
}  // namespace kforge

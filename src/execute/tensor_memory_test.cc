#include "execute/tensor_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

namespace kforge {
namespace {

BoundTask two_tensors(std::int64_t elements) {
  BoundTask task;
  task.arguments = {{"x", "x", "", Role::kInput, DType::kFloat32, {elements}, {}, 0},
                    {"w", "w", "", Role::kParam, DType::kFloat32, {3}, {}, 0},
                    {"y", "y", "", Role::kOutput, DType::kFloat32, {elements}, {}, 0}};
  return task;
}

TEST(TensorMemory, DataIsAlignedAndEndsWhereItsPagesEnd) {
  for (std::int64_t n : {1, 15, 16, 17, 1000, 1024, 5000}) {
    MemoryLayout layout = MemoryLayout::of(two_tensors(n), 3);
    for (const KforgeArgumentRow& row : layout.rows) {
      EXPECT_EQ(row.data_offset % 64, 0u);
      std::size_t padded = (row.data_bytes + 63) / 64 * 64;
      EXPECT_EQ(row.data_offset + padded, row.pages_bytes);
      EXPECT_EQ(row.pages_bytes % 4096, 0u);
    }
  }
}

TEST(TensorMemory, SealedInputsCannotBeMadeWritableAgain) {
  BoundTask task = two_tensors(100);
  auto memory = InputMemory::create(task, 2);
  ASSERT_TRUE(memory) << memory.error().message;
  int fd = memory->inputs.fd();
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  EXPECT_EQ(::write(fd, "x", 1), -1);
  void* view = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  ASSERT_NE(view, MAP_FAILED);
  EXPECT_EQ(::mprotect(view, 4096, PROT_READ | PROT_WRITE), -1);
  ::munmap(view, 4096);
  EXPECT_EQ(::ftruncate(fd, 0), -1);
  // The parent still writes.
  memory->inputs.tensor(0, 1)[0] = std::byte{7};
}

TEST(TensorMemory, ProgramsThatTakeTurnsHaveOneMemoryForOutputs) {
  BoundTask task = two_tensors(100);
  EXPECT_EQ(InputMemory::create(task, 2)->outputs, nullptr);
  auto memory = InputMemory::create_for_turns(task, 2);
  ASSERT_TRUE(memory) << memory.error().message;
  ASSERT_TRUE(memory->outputs);
  EXPECT_EQ(memory->outputs->tensor(2, 1).size(), 400u);
}

// What is reset before every batch stays in view, as long as that is not many times what the parent may hold.
TEST(TensorMemory, OutputsOfTurnsStayInViewUnlessTheyAreLarge) {
  EXPECT_TRUE(InputMemory::create_for_turns(two_tensors(2 << 20), 2)->outputs->stays_in_view());
  EXPECT_FALSE(InputMemory::create_for_turns(two_tensors(16 << 20), 5)->outputs->stays_in_view());
}

TEST(TensorMemory, InputsOfTurnsStayInViewAndTheirValuesReachThePrograms) {
  const BoundTask task = two_tensors(2 << 20);
  auto memory = InputMemory::create_for_turns(task, 2);
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_TRUE(memory->inputs.stays_in_view());
  EXPECT_FALSE(InputMemory::create(task, 2)->inputs.stays_in_view());
  memory->inputs.tensor(0, 1)[5] = std::byte{7};
  auto seen = Mapping::map(memory->inputs.fd(), memory->layout.arena_bytes[KFORGE_ARENA_INPUTS], false);
  ASSERT_TRUE(seen) << seen.error().message;
  const KforgeArgumentRow& row = memory->layout.rows[0];
  EXPECT_EQ(seen->data()[row.offset + row.stride + row.data_offset + 5], std::byte{7});
}

TEST(TensorMemory, OutputsCannotBeShrunk) {
  BoundTask task = two_tensors(100);
  auto outputs = TensorMemory::create(MemoryLayout::of(task, 1), KFORGE_ARENA_OUTPUTS, false);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(::ftruncate(outputs->fd(), 0), -1);
}

TEST(TensorMemory, CanariesSeeOneByteTooFarOnEitherSide) {
  BoundTask task = two_tensors(100);
  auto outputs = TensorMemory::create(MemoryLayout::of(task, 2), KFORGE_ARENA_OUTPUTS, false);
  ASSERT_TRUE(outputs);
  outputs->set_canaries(2, 1);
  EXPECT_FALSE(outputs->broken_canary(2, 1));
  std::byte* data = outputs->tensor(2, 1).data();
  std::byte kept = data[400];
  data[400] ^= std::byte{1};
  EXPECT_EQ(outputs->broken_canary(2, 1), 0);
  data[400] = kept;
  data[-3] ^= std::byte{1};
  EXPECT_EQ(outputs->broken_canary(2, 1), -3);
}

TEST(TensorMemory, PoisonIsNotANumberAndIsCounted) {
  std::vector<std::byte> data(4 * 10);
  poison(DType::kFloat32, 1, data);
  float first;
  std::memcpy(&first, data.data(), sizeof first);
  EXPECT_TRUE(std::isnan(first));
  EXPECT_EQ(count_poison(DType::kFloat32, 1, data), 10);
  float one = 1;
  std::memcpy(data.data() + 8, &one, sizeof one);
  EXPECT_EQ(count_poison(DType::kFloat32, 1, data), 9);
}

TEST(TensorMemory, PoisonOfEveryTypeIsCountedWhole) {
  for (DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt8, DType::kInt32,
                      DType::kInt64, DType::kBool}) {
    std::vector<std::byte> data(size_of(dtype) * 13);
    poison(dtype, 42, data);
    EXPECT_EQ(count_poison(dtype, 42, data), 13) << name_of(dtype);
  }
}

}  // namespace
}  // namespace kforge

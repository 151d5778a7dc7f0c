#include "device/spirv.h"

#include <gmock/gmock.h>

#include <cstring>

namespace kforge {
namespace {

using testing::ElementsAre;

std::string module_of(std::vector<std::vector<std::uint32_t>> instructions) {
  std::vector<std::uint32_t> words = {0x07230203, 0x00010300, 0, 100, 0};
  for (auto& instruction : instructions) {
    instruction[0] |= static_cast<std::uint32_t>(instruction.size()) << 16;
    words.insert(words.end(), instruction.begin(), instruction.end());
  }
  std::string bytes(words.size() * 4, '\0');
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

TEST(Spirv, TellsBlockBindingsAndPushBlock) {
  auto facts = read_spirv(module_of({
      {16, 4, 17, 64, 2, 1},  // OpExecutionMode LocalSize
      {71, 20, 33, 1},        // OpDecorate Binding
      {71, 21, 33, 0},
      {72, 30, 0, 35, 0},  // OpMemberDecorate Offset
      {72, 30, 1, 35, 8},
      {21, 10, 32, 1},   // OpTypeInt 32
      {22, 11, 64},      // OpTypeFloat 64
      {30, 30, 10, 11},  // OpTypeStruct
      {32, 31, 9, 30},   // OpTypePointer PushConstant
  }));
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_THAT(facts->local_size, ElementsAre(64, 2, 1));
  EXPECT_THAT(facts->bindings, ElementsAre(0, 1));
  EXPECT_EQ(facts->push_bytes, 16u);
}

TEST(Spirv, WhatIsNoneIsAnError) {
  EXPECT_FALSE(read_spirv(""));
  EXPECT_FALSE(read_spirv("#version 450 void main() {}"));
  std::string cut = module_of({{16, 4, 17, 64, 2, 1}});
  cut.resize(cut.size() - 4);
  EXPECT_FALSE(read_spirv(cut));
}

}  // namespace
}  // namespace kforge

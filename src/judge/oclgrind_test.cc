#include "judge/oclgrind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/vulkan_layers.h"
#include "judge/wrong_programs.h"

namespace kforge {
namespace {

TEST(Oclgrind, FindingsHaveKernelAndLines) {
  const auto findings = parse_oclgrind(
      "\nInvalid read of size 4 at global memory address 0x1000000000100\n"
      "\tKernel: f\n"
      "\tEntity: Global(63,0,0) Local(63,0,0) Group(0,0,0)\n"
      "\t  %0 = load float, float addrspace(1)* %arrayidx, align 4, !dbg !33, !tbaa !34\n"
      "\tAt line 4 (column 24) of kernel.cl:\n"
      "\t  x[i + 1]\n"
      "\t\n"
      "Read-write data race at local memory address 0x100000000007c\n"
      "\tKernel: f\n"
      "\tFirst entity:  Global(32,0,0) Local(32,0,0) Group(0,0,0)\n"
      "\tAt line 5 (column 10) of /tmp/a/kernel.cl:\n"
      "\tSecond entity: Global(31,0,0) Local(31,0,0) Group(0,0,0)\n"
      "\tAt line 4 (column 22) of /tmp/a/kernel.cl:\n"
      "Read-write data race at local memory address 0x1000000000080\n"
      "\tKernel: f\n"
      "\tAt line 5 (column 10) of kernel.cl:\n"
      "\tAt line 4 (column 22) of kernel.cl:\n"
      "Work-group divergence detected (barrier)\n"
      "\tKernel:     g\n"
      "\tAt line 9 (column 15) of kernel.cl:\n");
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].gate, Gate::kBounds);
  EXPECT_EQ(findings[0].sentence, "invalid read of size 4 at global memory in f, kernel.cl:4");
  EXPECT_EQ(findings[1].gate, Gate::kRaces);
  EXPECT_EQ(findings[1].sentence, "read-write data race at local memory in f, kernel.cl:5 and kernel.cl:4");
  EXPECT_EQ(findings[2].gate, Gate::kBarriers);
  EXPECT_TRUE(parse_oclgrind("At line 4 of x\nKernel: f\nhello\n").empty());
}

TEST(ValidationLayers, TheFirstErrorIsNamed) {
  EXPECT_EQ(first_validation_error("UNASSIGNED info\nhello\n"), std::nullopt);
  EXPECT_EQ(
      first_validation_error(
          "Validation Error: [ VUID-VkComputePipelineCreateInfo-layout-07988 ] Object 0: handle = 0x1, "
          "type = VK_OBJECT_TYPE_SHADER_MODULE; | MessageID = 0x3f | the shader uses binding 3 The Vulkan "
          "spec states: so\nmore"),
      "VUID-VkComputePipelineCreateInfo-layout-07988: the shader uses binding 3 (binding n of the shader "
      "must be the storage buffer that args[n] of the plan names)");
}

// What was found before a crash counts; a crash of which they said nothing is told as one, and refuses
// nobody.
TEST(ValidationLayers, ACrashUnderThemIsTold) {
  const Crash crash{"SIGSEGV during a call", ""};
  const std::string error = "Validation Error: [ VUID-vkCmdDispatch-None-02697 ] a | b | no set is bound\n";
  const auto found = layers_finding({"", error, crash});
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, testing::HasSubstr("VUID-vkCmdDispatch-None-02697: no set is bound"));
  EXPECT_THAT(*found, testing::HasSubstr("after that it failed: SIGSEGV during a call"));
  EXPECT_EQ(layers_finding({"", "hello\n", crash}), std::nullopt);
  EXPECT_THAT(layers_left_out(crash), testing::HasSubstr("it crashed under the validation layers"));
  EXPECT_THAT(layers_left_out(crash), testing::HasSubstr("SIGSEGV during a call"));
  EXPECT_EQ(layers_left_out(Timeout{"a call", 5}),
            "it did not run under the validation layers: a call did not finish within 5 s");
}

// Where oclgrind is installed it sees first what the guard zones see otherwise.
TEST(WrongPrograms, AnyOfTheGatesThatAreNamedIsRight) {
  WrongProgram program;
  ASSERT_TRUE(read_expectation("past.cl", "outcome=rejected|wrong_value gate=memory|bounds", program));
  EXPECT_TRUE(program.expects(Outcome::kRejected, Gate::kMemory));
  EXPECT_TRUE(program.expects(Outcome::kWrongValue, Gate::kBounds));
  EXPECT_FALSE(program.expects(Outcome::kWrongValue, Gate::kAccuracy));
  EXPECT_FALSE(program.expects(Outcome::kRejected, std::nullopt));
  EXPECT_EQ(program.expected_text(), "rejected or wrong_value by gate memory or bounds");
}

}  // namespace
}  // namespace kforge

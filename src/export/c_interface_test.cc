#include "export/c_interface.h"

#include <gmock/gmock.h>

#include "export/parts.h"
#include "task/scratch_task.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CInterface, KernelsOfTwoExportsHaveNamesOfTheirOwn) {
  Task task = *load_task("core/softmax");
  BoundTask bound = *bind_task(task, "small");
  std::string header = renamed_task_header(bound, "mine");
  EXPECT_THAT(header,
              HasSubstr("extern \"C\" void kernel(const float* x, float* y) __asm__(\"mine_kernel\");"));
  EXPECT_THAT(header, HasSubstr("extern \"C\" void* prepare() __asm__(\"mine_prepare\");"));
  EXPECT_THAT(header, HasSubstr("__asm__(\"mine_release\");"));
}

TEST(CInterface, TheHeaderTakesParamsOnceAndTheRestInEveryCall) {
  Task task = *load_task("fusion/gemm_scale_leakyrelu");
  BoundTask bound = *bind_task(task, "small");
  std::string header = c_header(bound, "gemm", "Verified. */ int x;");
  EXPECT_THAT(header, HasSubstr("gemm_create(gemm_plan** plan, int threads, const float* w"));
  EXPECT_THAT(header, HasSubstr("gemm_run(gemm_plan* plan, const float* x, float* y)"));
  EXPECT_THAT(header, Not(HasSubstr("*/ int x"))) << "no text ends a comment";
  std::string calls = kernel_calls(bound, "gemm", {"avx2"}, true);
  EXPECT_THAT(calls, HasSubstr("kernel_prepared(state, (const float*)t[0], (float*)t[1])"));
  EXPECT_THAT(calls, HasSubstr("kNeeds[] = {\"avx2\", nullptr}"));
}

TEST(CInterface, ATensorMayHaveTheNameOfAParameterOfTheHeader) {
  BoundTask bound;
  Task task;
  bound.task = &task;
  BoundArgument argument{
      .name = "plan", .c_name = "plan", .output = {}, .role = Role::kInput, .dtype = DType::kFloat32};
  argument.shape = {4};
  bound.arguments = {argument};
  EXPECT_THAT(c_header(bound, "f", ""), HasSubstr("f_run(f_plan* plan, const float* plan_tensor)"));
  EXPECT_THAT(cpp_header(bound, "f"), HasSubstr("std::span<const float> plan_tensor"));
}

TEST(ExportParts, AreThere) {
  EXPECT_THAT(std::string(export_part("native/plan.cc")), HasSubstr("API(create_v)"));
  EXPECT_THAT(std::string(export_part("c/CMakeLists.txt")), HasSubstr("install(EXPORT"));
}

}  // namespace
}  // namespace kforge

// NVIDIA's own compilers, where they are installed: no GPU is needed for them.
#include "device/cuda_compile.h"

#include <gmock/gmock.h>

#include "base/text.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

DevicePackage package_of(const std::string& body) {
  DevicePackage package;
  package.files = {
      {"kernel.cu", "#include \"task.h\"\nextern \"C\" __global__ void scale(float* x) { " + body + " }\n"},
      {"task.h", "#pragma once\nnamespace task { constexpr int N = 8; }\n"}};
  return package;
}

class CudaCompilers : public testing::TestWithParam<CudaCompiler> {
 protected:
  Step<CudaObject> compiled(const std::string& body) {
    return compile_cuda(package_of(body), 90, GetParam());
  }
};

TEST_P(CudaCompilers, GiveACubinOrTheirMessages) {
  auto good = compiled("if (threadIdx.x < task::N) x[threadIdx.x] *= 2;");
  if (!good) GTEST_SKIP() << good.error().text();
  ASSERT_TRUE(*good) << reason_text(good->error());
  EXPECT_THAT((**good).code, StartsWith("\x7f"
                                        "ELF"));
  EXPECT_THAT((**good).code, HasSubstr(".text.scale"));
  auto bad = compiled("x[0] = undeclared;");
  ASSERT_TRUE(bad) << bad.error().text();
  ASSERT_FALSE(*bad);
  EXPECT_THAT(std::get<CompileError>(bad->error()).log,
              HasSubstr("kernel.cu(2): error: identifier \"undeclared\""));
}

INSTANTIATE_TEST_SUITE_P(All, CudaCompilers, testing::Values(CudaCompiler::kFirst, CudaCompiler::kNvrtc),
                         [](const auto& info) {
                           return info.param == CudaCompiler::kNvrtc ? "nvrtc" : "first";
                         });

}  // namespace
}  // namespace kforge

// What only Vulkan has: specialization constants, and the validation layers.
#include <gmock/gmock.h>

#include <algorithm>

#include "platform/device_case.h"

namespace kforge {
namespace {

using testing::HasSubstr;

// Every thread does WIDTH elements. With the shader's own 1, most of them would stay unwritten.
constexpr const char* kWide = R"(#version 450
// kforge: tune TILE=8,4
layout(constant_id = 3) const int WIDTH = 1;
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
void main() {
  for (int j = 0; j < WIDTH; ++j) {
    const uint i = gl_GlobalInvocationID.x * WIDTH + j;
    if (i < B * D) y[i] = isnan(x[i]) ? x[i] : max(x[i], 0.0);
  }
}
)";

const std::string kSteps =
    R"json("run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16*TILE)"], "block": [16], "args": ["x", "y"]}]})json";

class VulkanProgram : public testing::Test {
 protected:
  void SetUp() override {
    use_home_of_tests();
    if (auto why = missing_device("vulkan")) GTEST_SKIP() << *why;
  }
  static EvalReport judged(const std::string& source, const std::string& plan) {
    auto report = judge_device("vulkan", "core/relu", {{"kernel.comp", source}, {"plan.json", plan}}, true);
    EXPECT_TRUE(report) << report.error().text();
    return report ? *report : EvalReport{};
  }
};

TEST_F(VulkanProgram, ATunableReachesASpecializationConstant) {
  const EvalReport wide = judged(kWide, R"({"defines": {"CONSTANT_3": "TILE"}, )" + kSteps);
  EXPECT_TRUE(wide.passed()) << wide.reason;
  const EvalReport narrow = judged(kWide, "{" + kSteps);
  EXPECT_EQ(narrow.outcome, Outcome::kWrongValue) << "the constant keeps the shader's own value";
}

// A layout that is larger than the device's limit is undefined behaviour, which some drivers survive.
TEST_F(VulkanProgram, ScalarsThatDoNotFitTheDeviceAreNamed) {
  std::string scalars;
  for (int i = 0; i < 60; ++i) scalars += R"(, {"i64": 1})";
  std::string steps = kSteps;
  steps.replace(steps.find(R"("y"])"), 4, R"("y")" + scalars + "]");
  const EvalReport report = judged(kWide, R"({"defines": {"CONSTANT_3": "TILE"}, )" + steps);
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.reason, HasSubstr("its scalars take 480 bytes of push constants, and the device has"));
}

// Lavapipe takes a uniform block where the plan hands over a storage buffer; other drivers need not.
TEST_F(VulkanProgram, TheValidationLayersRefuseAWrongDescriptor) {
  if (!fs::exists("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"))
    GTEST_SKIP() << "the validation layers are not installed (apt-get install vulkan-validationlayers)";
  std::string source = kWide;
  const std::string storage = "layout(std430, binding = 0) readonly buffer X { float x[]; };";
  source.replace(source.find(storage), storage.size(),
                 "layout(std140, binding = 0) uniform X { vec4 x4[B * D / 4]; };\n"
                 "#define x(i) x4[(i) / 4][(i) % 4]");
  for (std::size_t at; (at = source.find("x[i]")) != std::string::npos;) source.replace(at, 4, "x(i)");
  const EvalReport report = judged(source, R"({"defines": {"CONSTANT_3": "TILE"}, )" + kSteps);
  EXPECT_EQ(report.outcome, Outcome::kWrongValue);
  EXPECT_EQ(report.gate_name(), "bounds");
  EXPECT_THAT(report.reason, HasSubstr("validation layers: VUID-"));
  EXPECT_THAT(report.reason, HasSubstr("args[n] of the plan")) << "the remedy";
}

}  // namespace
}  // namespace kforge

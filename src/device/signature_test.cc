#include "device/signature.h"

#include <gmock/gmock.h>

namespace kforge {
namespace {

using Kind = KernelParameter::Kind;
using testing::HasSubstr;

LaunchPlan plan_of_two() {
  LaunchPlan plan;
  plan.memory = {{"x", DType::kFloat32, 64}, {"h", DType::kFloat16, 64}};
  plan.tensors = 2;
  return plan;
}

PlanLaunch launch(std::vector<PlanArgument> arguments, std::size_t shared = 0) {
  PlanLaunch made;
  made.kernel = "k";
  made.arguments = std::move(arguments);
  made.shared_bytes = shared;
  return made;
}

std::string mistake(const PlanLaunch& launch, const std::vector<KernelParameter>& parameters) {
  return signature_mistake(plan_of_two(), launch, parameters).value_or("");
}

TEST(Signatures, WhatFitsIsNoMistake) {
  const PlanUse x{0, 0}, h{1, 0};
  EXPECT_EQ(mistake(launch({x}), {{Kind::kMemory, "float*", "a"}}), "");
  EXPECT_EQ(mistake(launch({x}), {{Kind::kMemory, "float4*", "a"}}), "");
  EXPECT_EQ(mistake(launch({x}), {{Kind::kMemory, "uint*", "bits"}}), "") << "bits of a float";
  EXPECT_EQ(mistake(launch({h}), {{Kind::kMemory, "uchar*", "bytes"}}), "");
  EXPECT_EQ(mistake(launch({x}), {{Kind::kMemory, "struct pair*", "a"}}), "") << "not known, not judged";
  EXPECT_EQ(mistake(launch({PlanScalar{PlanScalar::Type::kUint32, 3}}), {{Kind::kScalar, "int", "n"}}), "");
  EXPECT_EQ(mistake(launch({x}, 256), {{Kind::kMemory, "float*", "a"}, {Kind::kLocal, "float*", "tile"}}),
            "");
}

TEST(Signatures, MistakesNameKernelArgumentAndBothTypes) {
  const PlanUse x{0, 0}, h{1, 0};
  EXPECT_THAT(mistake(launch({x, x}), {{Kind::kMemory, "float*", "a"}}),
              HasSubstr("kernel 'k' takes 1 arguments, and the plan gives it 2"));
  EXPECT_THAT(
      mistake(launch({h}), {{Kind::kMemory, "float*", "a"}}),
      HasSubstr(
          "args[0] is parameter 'a' of type float*, and the plan gives 'h', whose elements are float16"));
  EXPECT_THAT(mistake(launch({x}), {{Kind::kScalar, "float", "a"}}), HasSubstr("the memory of 'x'"));
  EXPECT_THAT(mistake(launch({PlanScalar{PlanScalar::Type::kInt64, 3}}), {{Kind::kScalar, "int", "n"}}),
              HasSubstr("the scalar i64"));
  EXPECT_THAT(mistake(launch({PlanScalar{PlanScalar::Type::kFloat32, 0, 1}}), {{Kind::kScalar, "int", "n"}}),
              HasSubstr("the scalar f32"));
  EXPECT_THAT(mistake(launch({x}), {{Kind::kMemory, "float*", "a"}, {Kind::kLocal, "float*", "tile"}}),
              HasSubstr("give 'shared_bytes'"));
  EXPECT_THAT(mistake(launch({x}, 64), {{Kind::kMemory, "float*", "a"}}),
              HasSubstr("no last parameter in local"));
}

}  // namespace
}  // namespace kforge

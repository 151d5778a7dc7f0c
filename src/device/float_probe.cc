#include "device/float_probe.h"

#include <cmath>
#include <limits>

#include "device/float_probe_spirv.h"

namespace kforge {
namespace {

constexpr std::size_t kInputs = 8, kOutputs = 9;
constexpr float kTiny = 1e-40F;  // a denormal
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kX[kInputs] = {1e-30F, 1e-10F, kTiny, 1e10F, 0, std::numeric_limits<float>::quiet_NaN(),
                               kInf,   1e30F};

// The same in every language of this kin; float_probe.comp is its twin in GLSL.
constexpr const char* kBody =
    " {\n"
    "  y[0] = x[0] * x[1];\n"
    "  y[1] = x[2] * x[3];\n"
    "  y[2] = x[2] + x[4];\n"
    "  y[3] = x[5] + x[3];\n"
    "  y[4] = x[6] - x[6];\n"
    "  y[5] = x[6] * x[4];\n"
    "  y[6] = x[7] * x[7];\n"
    "  y[7] = x[5] == x[5] ? 1.0f : 0.0f;\n"
    "  y[8] = 1.0f / x[4];\n"
    "}\n";

DevicePackage package_for(const std::string& api) {
  DevicePackage package;
  package.api = api;
  package.plan = R"({"run": [{"kernel": "probe", "grid": [1], "block": [1], "args": ["x", "y"]}]})";
  package.setting.tensors = {{"x", DType::kFloat32, sizeof kX, false, false},
                             {"y", DType::kFloat32, kOutputs * sizeof(float), false, true}};
  if (api == "cuda")
    package.files = {
        {"probe.cu", std::string("extern \"C\" __global__ void probe(const float* x, float* y)") + kBody}};
  else if (api == "metal")
    package.files = {
        {"probe.metal", std::string("kernel void probe(device const float* x [[buffer(0)]], device "
                                    "float* y [[buffer(1)]])") +
                            kBody}};
  else
    package.files = {
        {"probe.cl", std::string("kernel void probe(global const float* x, global float* y)") + kBody}};
  package.binaries.clear();
  if (api == "vulkan")
    package.binaries["probe"].assign(reinterpret_cast<const char*>(kFloatProbeSpirv),
                                     sizeof kFloatProbeSpirv);
  return package;
}

}  // namespace

Result<void> probe_floats(DeviceApi& api, DeviceFacts& facts) {
  DevicePackage package = package_for(facts.api);
  auto plan = read_launch_plan(package.plan, package.setting);
  if (!plan) return fail("{}", plan.error().log);
  KF_TRY(auto built, api.build(package, *plan, true));
  if (!built)
    return fail("the device opens, and does not take a first kernel: {}", reason_text(built.error()));
  std::vector<std::unique_ptr<DeviceMemory>> memory;
  std::vector<PlacedMemory> placed;
  for (const PlanTensor& tensor : package.setting.tensors) {
    KF_TRY(auto made, api.allocate(tensor.bytes));
    placed.push_back({made.get(), 0, tensor.bytes});
    memory.push_back(std::move(made));
  }
  float y[kOutputs] = {};
  KF_TRY_VOID(memory[0]->write(0, std::as_bytes(std::span(kX))));
  KF_TRY_VOID(memory[1]->write(0, std::as_bytes(std::span(y))));
  KF_TRY(auto call, api.record(*plan, plan->run, placed));
  KF_TRY_VOID(api.submit(*call));
  KF_TRY([[maybe_unused]] const std::uint64_t ns, api.finish());
  KF_TRY_VOID(memory[1]->read(0, std::as_writable_bytes(std::span(y))));
  auto near = [](float value, float wanted) { return std::abs(value - wanted) <= 1e-3F * wanted; };
  facts.denormals = near(y[0], kTiny) && near(y[1], 1e-30F) && near(y[2], kTiny);
  facts.nonfinite =
      std::isnan(y[3]) && std::isnan(y[4]) && std::isnan(y[5]) && y[6] == kInf && y[7] == 0 && y[8] == kInf;
  return {};
}

}  // namespace kforge

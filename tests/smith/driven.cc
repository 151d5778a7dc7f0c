#include "driven.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

#include "base/files.h"
#include "base/subprocess.h"
#include "device/device_run.h"
#include "device/shown_check.h"
#include "plan_of_design.h"

namespace kforge {
namespace {

class Pointers final : public HostTensors {
 public:
  explicit Pointers(const PlanSetting& setting) : setting_(setting) {}
  std::span<std::byte> data(std::size_t tensor, std::uint32_t) const override {
    return {static_cast<std::byte*>(arguments[tensor]), setting_.tensors[tensor].bytes};
  }
  void** arguments = nullptr;

 private:
  const PlanSetting& setting_;
};

struct Driven {
  DevicePackage package;
  LaunchPlan plan;
  std::unique_ptr<Pointers> host;
  std::unique_ptr<DeviceRun> run;

  std::unique_ptr<ShownCheck> check;  // of guard zones, inputs and what prepare made
  std::vector<std::byte> window = std::vector<std::byte>(std::size_t{1} << 20);

  void call(void** arguments) {
    const std::uint32_t slots[] = {0};
    host->arguments = arguments;
    const auto& tensors = package.setting.tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (!tensors[i].output) check->note(i, 0, host->data(i, 0));
    auto done = run->prepare();
    ASSERT_TRUE(done) << done.error().message;
    look({});
    done = run->upload(slots);
    ASSERT_TRUE(done) << done.error().message;
    auto called = run->call(slots);
    ASSERT_TRUE(called) << called.error().message;
    done = run->download(slots);
    ASSERT_TRUE(done) << done.error().message;
    look(slots);
  }

  // As the parent of kforge-device does (execute/shown_window.h).
  void look(std::span<const std::uint32_t> slots) {
    check->begin(slots.empty());
    for (bool from_start = true;; from_start = false) {
      const auto more = run->show(slots, from_start, window);
      ASSERT_TRUE(more) << more.error().message;
      const auto broken = check->look(window);
      ASSERT_FALSE(broken) << *broken;
      if (!*more) break;
    }
    const auto broken = check->end(slots);
    ASSERT_FALSE(broken) << *broken;
  }
};

}  // namespace

Result<AnyCall> driven(DeviceApi& api, const smith::Problem& problem, const smith::DeviceDesign& design,
                       std::map<std::string, std::string> binaries) {
  auto made = std::make_shared<Driven>();
  made->package = {api.facts().api, {{design.file, design.source}}, {},
                   design.plan,     setting_of_problem(problem),    std::move(binaries)};
  KF_TRY(made->plan, plan_of_design(problem, design));
  KF_TRY(auto built, api.build(made->package, made->plan, true));
  if (!built) return fail("{}\n{}", reason_text(built.error()), design.source);
  made->host = std::make_unique<Pointers>(made->package.setting);
  made->run = std::make_unique<DeviceRun>(api, made->plan, made->package.setting, *made->host, 1);
  std::vector<ShownCheck::Tensor> tensors;
  for (const PlanTensor& tensor : made->package.setting.tensors)
    tensors.push_back({tensor.name, tensor.bytes, tensor.param, tensor.output});
  std::vector<std::byte> guard(KFORGE_GUARD_BYTES);
  for (std::size_t i = 0; i < guard.size(); ++i) guard[i] = static_cast<std::byte>(i * 31 + i / 256 + 7);
  made->run->set_guard(guard);
  made->check = std::make_unique<ShownCheck>(std::move(tensors), std::move(guard));
  return AnyCall([made](void** arguments) { made->call(arguments); });
}

Result<std::map<std::string, std::string>> spirv_of(const smith::DeviceDesign& design,
                                                    const std::string& folder) {
  const std::string source = folder + "/kernel.comp", binary = folder + "/kernel.spv";
  std::ofstream(source) << design.source;
  std::map<std::string, std::string> codes;
  const auto plan = nlohmann::json::parse(design.plan);
  for (const char* part : {"prepare", "run"})
    for (const auto& step : plan.at(part)) {
      const std::string kernel = step.at("kernel");
      if (codes.contains(kernel)) continue;
      const auto built = run_command(Command{{"glslangValidator", "-V", "--target-env", "vulkan1.1",
                                              "-DKERNEL_" + kernel, "-o", binary, source}});
      if (!built || !built->ok())
        return fail("glslangValidator: {}", built ? built->out : built.error().message);
      KF_TRY(codes[kernel], read_file(binary));
    }
  return codes;
}

}  // namespace kforge

#include "judge/setup.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/readable.h"
#include "baseline/baseline.h"
#include "judge/platform_python.h"

namespace kforge {
namespace {

Result<PrecisionPolicy> policy_of(const JudgeOptions& options) {
  auto policy = policy_from_name(options.precision);
  if (policy) return *policy;
  return fail_with_remedy("use one of fp32, high, bf16, fp16",
                          fmt::format("there is no precision policy '{}'", options.precision));
}

Result<int> threads_of(const JudgeOptions& options, const Machine& machine) {
  int threads = options.threads > 0 ? options.threads : machine.threads();
  if (threads <= machine.threads()) return threads;
  return fail_with_remedy(
      fmt::format("use --threads {} or less", machine.threads()),
      fmt::format("{} threads were asked for, and {} cpus are allowed", threads, machine.threads()));
}

// A mistake in --baseline is said before anything is built or measured.
Result<void> check_baselines(const JudgeOptions& options, const Platform& platform) {
  for (const std::string& choice : options.baselines) {
    if (const auto equals = choice.find('='); equals != std::string::npos) {
      const std::string file = choice.substr(equals + 1);
      if (!fs::exists(file))
        return fail_with_remedy("give a kernel's file, as --kernel does: --baseline NAME=FILE",
                                fmt::format("--baseline {}: there is no {}", choice.substr(0, equals), file));
      continue;
    }
    const bool devices_own = platform.kind == PlatformKind::kDevice && choice == kNaiveBaseline;
    if (choice != "none" && choice != "all" && !devices_own) KF_TRY_VOID(check_baseline_name(choice));
  }
  return {};
}

// The truth is computed in double precision, beside the program's own copy.
Result<void> check_memory(const BoundTask& task) {
  double tensors = 0;
  for (const BoundArgument& argument : task.arguments) tensors += static_cast<double>(argument.bytes());
  auto memory = static_cast<double>(physical_memory());
  if (3 * tensors <= memory) return {};
  return fail_with_remedy(
      "judge it on a smaller shape set (--shapes small), or give smaller sizes: --set NAME=SIZE",
      fmt::format("the tensors of {} take {} in shape set {} ({}); judging needs three times that, and this "
                  "machine has {} of memory",
                  full_name(*task.task), readable_bytes(tensors), task.shape_set,
                  dims_text(task.shape_case.dims), readable_bytes(memory)));
}

Result<SandboxTier> tier_of(const JudgeOptions& options) {
  if (!options.sandbox) return strongest_tier();
  if (auto why = tier_unavailable(*options.sandbox))
    return fail("the sandbox {} does not work here: {}", name_of(*options.sandbox), *why);
  return *options.sandbox;
}

Error missing_something(const Platform& platform, const Readiness& readiness) {
  return Error{fmt::format("platform {} is missing something: {}", platform.name, readiness.reason),
               readiness.remedy};
}

// Commands compute on this processor, or on what their own runner finds; its version makes another device.
Result<Device> command_device(const Platform& platform, const Machine& machine) {
  const Readiness readiness = probe_platform(platform);
  if (!readiness.usable()) return std::unexpected(missing_something(platform, readiness));
  Device device{machine.cpu_model, readiness.reason, readiness.state == Readiness::State::kEmulated, ""};
  device.id = Hasher().add(machine.id()).add(platform.name).add(readiness.reason).hex().substr(0, 12);
  return device;
}

// What programs of the platform run on; under an emulator that is another machine, whose instruction sets are
// those the platform says it emulates.
Result<Device> device_of(const Platform& platform, Machine& machine) {
  if (platform.kind == PlatformKind::kDevice && !platform.emulates_device()) {
    KF_TRY(DeviceFacts facts, device_facts(platform));
    Device device{facts.name, fmt::format("{}, driver {}", facts.version, facts.driver), false, ""};
    device.id =
        Hasher().add(machine.id()).add(facts.api).add(device.name).add(device.driver).hex().substr(0, 12);
    device.facts = std::move(facts);
    return device;
  }
  if (platform.kind == PlatformKind::kCommand) return command_device(platform, machine);
  if (!platform.emulated()) return Device{machine.cpu_model, "", false, machine.id()};
  Readiness readiness = probe_platform(platform);
  if (!readiness.usable()) return std::unexpected(missing_something(platform, readiness));
  const std::string emulates(platform.emulates_device() ? name_of(*platform.run.driver)
                                                        : platform.run.machine);
  if (!platform.emulates_device())
    machine.features = {platform.run.features.begin(), platform.run.features.end()};
  Device device{fmt::format("{} emulated", emulates), readiness.reason, true, ""};
  Hasher hasher;
  hasher.add(machine.id()).add(emulates).add(readiness.reason);
  for (const std::string& word : platform.run.prefix) hasher.add(word);
  device.id = hasher.hex().substr(0, 12);
  return device;
}

}  // namespace

std::string JudgeSetup::platform_spec() const {
  const std::string& spec = options.platform;
  return spec == platform.name ? spec : platform.folder.string();
}

Result<std::unique_ptr<const JudgeSetup>> open_setup(const JudgeOptions& options) {
  auto opened = std::make_unique<JudgeSetup>();
  JudgeSetup& setup = *opened;
  setup.options = options;
  KF_TRY(setup.policy, policy_of(options));
  if (!options.python.empty() && !fs::exists(options.python))
    return fail_with_remedy("name a Python that has onnxruntime or torch, or leave --python out",
                            fmt::format("--python: there is no {}", options.python.string()));
  KF_TRY(setup.task, load_task(options.task));
  KF_TRY(auto dims, parse_dims(options.set));
  KF_TRY_VOID(set_dims(setup.task, options.shape_set, dims));
  KF_TRY(setup.platform, load_platform(options.platform));
  use_python(setup.platform, options.python);
  KF_TRY_VOID(check_baselines(options, setup.platform));
  KF_TRY(setup.machine, describe_machine());
  KF_TRY(setup.device, device_of(setup.platform, setup.machine));
  KF_TRY(setup.run, run_setting(setup.platform));
  KF_TRY(setup.threads, threads_of(options, setup.machine));
  setup.machine.cpus.resize(static_cast<std::size_t>(setup.threads));
  KF_TRY(setup.tier, tier_of(options));
  auto set = setup.task.shapes.find(options.shape_set);
  std::size_t count = set == setup.task.shapes.end() ? 1 : set->second.size();
  for (std::size_t index = 0; index < count; ++index) {
    KF_TRY(BoundTask task, bind_task(setup.task, options.shape_set, index));
    KF_TRY_VOID(check_memory(task));
    setup.cases.push_back(std::make_unique<const BoundTask>(std::move(task)));
  }
  return opened;
}

}  // namespace kforge

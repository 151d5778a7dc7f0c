#include "generate/device_program.h"

#include "generate/tunables.h"

namespace kforge {

std::expected<PlanSetting, CompileError> plan_setting(const Candidate& candidate, const BoundTask& task,
                                                      const DeviceLimits& limits) {
  PlanSetting setting;
  setting.most_threads = limits.most_threads;
  setting.most_memory = limits.most_memory;
  setting.non_uniform = limits.non_uniform;
  for (const BoundArgument& argument : task.arguments)
    setting.tensors.push_back({argument.c_name, argument.dtype, static_cast<std::size_t>(argument.bytes()),
                               argument.role == Role::kParam,
                               argument.role == Role::kOutput || argument.role == Role::kInout});
  for (const auto& [name, value] : dimension_symbols(task)) setting.dimensions[name] = value;
  auto values = current_values(candidate);
  if (!values)
    return std::unexpected(
        CompileError{fmt::format("{}: error: {}\n", candidate.files.front().name, values.error().message)});
  for (const auto& [name, value] : *values)
    if (!setting.dimensions.emplace(name, value).second)
      return std::unexpected(
          CompileError{fmt::format("{}: error: kforge: tune: {} is a dimension of the task already\n",
                                   candidate.files.front().name, name)});
  return setting;
}

Step<DeviceProgram> read_device_program(const Candidate& candidate, const BoundTask& task,
                                        const DeviceLimits& limits) {
  const SourceFile* text = candidate.plan();
  if (!text)
    return candidate_failed(NoProgram{
        fmt::format("there is no {}: a device program is its source and a launch plan", kPlanFile)});
  auto setting = plan_setting(candidate, task, limits);
  if (!setting) return candidate_failed(setting.error());
  auto plan = read_launch_plan(text->content, *setting);
  if (!plan) return candidate_failed(plan.error());
  DeviceProgram program{std::move(*plan), setting->dimensions, std::move(*setting)};
  for (const auto& [name, value] : program.plan.defines) program.macros[name] = value;
  return program;
}

}  // namespace kforge

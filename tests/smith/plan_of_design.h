// The launch plan of a design, read as the plan of any candidate would be.
#pragma once

#include "base/result.h"
#include "device/launch_plan.h"
#include "smith/smith.h"

namespace kforge {

inline PlanSetting setting_of_problem(const smith::Problem& problem) {
  PlanSetting setting;
  setting.most_threads = 256;  // as the smith promises
  for (const smith::Argument& argument : problem.arguments)
    setting.tensors.push_back(
        {argument.c_name, argument.dtype,
         static_cast<std::size_t>(element_count(argument.shape)) * size_of(argument.dtype),
         argument.role == smith::ArgumentRole::kParam,
         argument.role == smith::ArgumentRole::kOutput || argument.role == smith::ArgumentRole::kInout});
  return setting;
}

inline Result<LaunchPlan> plan_of_design(const smith::Problem& problem, const smith::DeviceDesign& design) {
  auto plan = read_launch_plan(design.plan, setting_of_problem(problem));
  if (!plan) return fail("{}{}", plan.error().log, design.plan);
  return std::move(*plan);
}

}  // namespace kforge

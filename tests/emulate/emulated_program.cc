#include "emulated_program.h"

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/file_cache.h"
#include "base/files.h"
#include "base/hash.h"
#include "runner/call_pointers.h"

namespace kforge {

using emulate::Request;

Request request_for(const TestProgram& program) {
  Request request;
  request.language = program.language;
  request.files = {
      {program.language == emulate::Language::kCuda ? "kernel.cu" : "kernel.metal", program.source}};
  request.variant = program.variant;
  request.tier = SandboxTier::kNone;
  PlanSetting setting;
  setting.non_uniform = program.language == emulate::Language::kMetal;
  for (const TestTensor& tensor : program.tensors) {
    setting.tensors.push_back(
        {tensor.name, tensor.dtype, tensor.elements * size_of(tensor.dtype), tensor.param, tensor.output});
    request.params.push_back(tensor.param);
  }
  auto plan = read_launch_plan(program.plan, setting);
  EXPECT_TRUE(plan) << plan.error().log;
  if (plan) request.plan = *plan;
  return request;
}

Step<std::string> build_library(const Request& request) {
  KF_TRY(const std::string identity, emulate::identity());
  Hasher hasher;
  hasher.add(identity).add(name_of(request.variant)).add(request.task_header);
  for (const auto& file : request.files) hasher.add(file.name).add(file.content);
  for (const std::string& flag : request.flags) hasher.add(flag);
  // The plan by what is made of it.
  emulate::Rewritten any;
  for (const std::string& name : request.plan.kernels()) hasher.add(name);
  for (const auto* steps : {&request.plan.prepare, &request.plan.run})
    for (const PlanStep& step : *steps) {
      hasher.add(std::to_string(step.index()));
      if (const auto* launch = std::get_if<PlanLaunch>(&step)) {
        hasher.add(fmt::format("{} {} {} {} {}", launch->kernel, fmt::join(launch->grid, ","),
                               fmt::join(launch->block, ","), launch->shared_bytes,
                               launch->arguments.size()));
        for (const PlanArgument& argument : launch->arguments)
          hasher.add(std::holds_alternative<PlanUse>(argument)
                         ? fmt::format("m{}+{}", std::get<PlanUse>(argument).memory,
                                       std::get<PlanUse>(argument).offset)
                         : fmt::format("{} {}", std::get<PlanScalar>(argument).integer,
                                       std::get<PlanScalar>(argument).real));
      }
      if (const auto* fill = std::get_if<PlanFill>(&step))
        hasher.add(fmt::format("{} {}", fill->memory, fill->value));
      if (const auto* copy = std::get_if<PlanCopy>(&step))
        hasher.add(fmt::format("{} {} {}", copy->from, copy->to, copy->bytes));
    }
  for (const PlanMemory& memory : request.plan.memory)
    hasher.add(fmt::format("{} {} {}", memory.name, memory.bytes, memory.prepared));
  FileCache cache(fs::path(KFORGE_BINARY_DIR) / "emulate_cache", std::size_t{256} << 20);
  const std::string key = hasher.hex();
  if (auto known = cache.find(key)) return known->string();
  KF_STEP(emulate::Library library, emulate::build(request));
  KF_TRY(fs::path path, cache.store(key, library.content));
  return path.string();
}

LoadedProgram::LoadedProgram(const TestProgram& program) : LoadedProgram(request_for(program)) {}

LoadedProgram::LoadedProgram(const Request& request)
    : params_(request.params), reports_(looks(request.variant)) {
  auto path = build_library(request);
  if (!path) {
    ADD_FAILURE() << path.error().text();
    return;
  }
  if (!path->has_value()) {
    ADD_FAILURE() << outcome_name(path->error()) << ": " << reason_text(path->error());
    return;
  }
  library_ = dlopen((*path)->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) ADD_FAILURE() << dlerror();
}

LoadedProgram::~LoadedProgram() {
  if (library_) dlclose(library_);
}

void LoadedProgram::call(const std::vector<void*>& tensors, void* report) {
  if (!library_) return;
  auto find = [&](const char* name) { return reinterpret_cast<runner::AnyFunction>(dlsym(library_, name)); };
  std::vector<void*> params, rest = {nullptr}, all = tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) (params_[i] ? params : rest).push_back(tensors[i]);
  if (reports_) rest.push_back(report), all.push_back(report);
  if (const auto kernel = find("kernel")) {
    runner::caller_of(all.size())(kernel, all.data());
    return;
  }
  rest[0] = runner::caller_of(params.size())(find("prepare"), params.data());
  runner::caller_of(rest.size())(find("kernel_prepared"), rest.data());
  runner::call_exactly<1>(find("release"), rest.data());
}

std::string test_file(const std::string& name) {
  auto content = read_file(fs::path(KFORGE_SOURCE_DIR) / "tests/emulate" / name);
  EXPECT_TRUE(content) << name;
  return content ? *content : "";
}

}  // namespace kforge

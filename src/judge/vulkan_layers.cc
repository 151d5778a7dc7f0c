#include "judge/vulkan_layers.h"

#include <algorithm>

#include "generate/quote.h"
#include "judge/program.h"

namespace kforge {
namespace {

// What most often stands behind a name of the specification's list.
struct Remedy {
  std::string_view part, what;
};
constexpr Remedy kRemedies[] = {
    {"PushConstant", "scalars of a launch are one push block, and devices promise 128 bytes of it"},
    {"VkComputePipelineCreateInfo-layout",
     "binding n of the shader must be the storage buffer that args[n] of the plan names"},
    {"Workgroup", "declare less shared memory, or fewer threads of a block"},
    {"Dispatch", "every binding that the shader uses must be among `args`"},
};

std::string remedy_of(std::string_view name) {
  for (const Remedy& remedy : kRemedies)
    if (name.find(remedy.part) != name.npos) return std::string(remedy.what);
  return "the name is explained in the Vulkan specification";
}

constexpr std::string_view kLayer = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json";

}  // namespace

std::optional<std::string> first_validation_error(std::string_view text) {
  const std::size_t at = text.find("Validation Error: [ ");
  if (at == text.npos) return std::nullopt;
  text.remove_prefix(at + 20);
  const std::string name = single_line(text.substr(0, text.find(' ')), 80);
  // The words stand behind the object's handles and the message's number.
  std::string_view words = text.substr(0, text.find('\n'));
  for (int bars = 0; bars < 2 && words.find(" | ") != words.npos; ++bars)
    words.remove_prefix(words.find(" | ") + 3);
  words = words.substr(0, words.find(" The Vulkan spec states"));  // which the name leads to
  return fmt::format("{}: {} ({})", name, single_line(words, 300), remedy_of(name));
}

std::optional<std::string> layers_finding(const Watched& watched) {
  auto found = first_validation_error(watched.printed + watched.said);
  if (found && watched.failure)
    *found += fmt::format("; after that it failed: {}", single_line(reason_text(*watched.failure), 200));
  return found;
}

std::string layers_left_out(const Failure& failure) {
  const std::string how = single_line(reason_text(failure), 300);
  if (!std::holds_alternative<Crash>(failure))
    return fmt::format("it did not run under the validation layers: {}", how);
  return fmt::format(
      "it crashed under the validation layers, which had found nothing until then: {} (the layers may be at "
      "fault as well as the program, whose calls without them are judged like any other's)",
      how);
}

Result<void> judge_by_layers(Workspace& workspace, const Candidate& candidate, const BoundTask& asked,
                             Stopwatch& watch, Verdict& verdict) {
  const JudgeSetup& setup = workspace.setup();
  auto skip = [&](const std::string& why) {
    verdict.skip(Gate::kBounds, why);
    return Result<void>{};
  };
  std::error_code error;
  if (!fs::exists(kLayer, error))
    return skip("the validation layers are not installed (apt-get install vulkan-validationlayers)");
  KF_TRY(auto task, watched_shapes(setup, candidate, asked));
  if (!task)
    return skip("the shapes are too large to look closely, and the program does not claim smaller ones");
  auto timer = watch.measure("validation layers");
  KF_TRY(auto built, build_candidate(candidate, setup.platform, *task, setup.machine, build_options(setup)));
  if (!built) return verdict.fail(built.error()), Result<void>{};
  KF_TRY(JudgeContext context, workspace.context(*task, true));
  KF_TRY(auto watched, watched_call(workspace, *built, *task, context,
                                    {{"VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation"}}));
  if (const auto found = layers_finding(watched))
    return verdict.fail(WrongValue{Gate::kBounds, "validation layers: " + *found}), Result<void>{};
  if (watched.failure) return skip(layers_left_out(*watched.failure));
  verdict.add(passed(Gate::kBounds,
                     fmt::format("nothing by the validation layers on shape set {}", task->shape_set)));
  return {};
}

}  // namespace kforge

#include "forge/agents.h"

#include <algorithm>

#include "generate/smith_generator.h"
#include "graph/opaque.h"

namespace kforge {
namespace {

class Opening {
 public:
  Opening(const ForgeOptions& options, const ForgeHost& host, RunRecords& records, const std::string& run,
          Agents& agents)
      : options_(options), host_(host), records_(records), run_(run), agents_(agents) {}

  Result<ModelClient*> model(const std::string& spec) {
    ModelSettings settings;
    settings.config_file = options_.config;
    settings.record_to = options_.record;
    settings.run = run_;
    KF_TRY(auto client, host_.open_model ? host_.open_model(spec) : open_model(spec, settings));
    auto remembering = std::make_unique<RememberingModel>(*client, records_, run_);
    ModelClient* result = remembering.get();
    agents_.models.push_back(std::move(client));
    agents_.models.push_back(std::move(remembering));
    return result;
  }

 private:
  const ForgeOptions& options_;
  const ForgeHost& host_;
  RunRecords& records_;
  const std::string& run_;
  Agents& agents_;
};

}  // namespace

bool Agents::every(bool GeneratorTraits::*trait) const {
  return std::ranges::all_of(generators, [&](const auto& generator) { return generator->traits().*trait; });
}

bool Agents::any(bool GeneratorTraits::*trait) const {
  return std::ranges::any_of(generators, [&](const auto& generator) { return generator->traits().*trait; });
}

Result<Agents> open_agents(const ForgeOptions& options, const ForgeHost& host, RunRecords& records,
                           const std::string& run, const Workspace& workspace) {
  Agents agents;
  Opening opening(options, host, records, run, agents);
  for (const std::string& spec : options.generators) {
    if (is_builtin(spec)) {
      if (is_opaque(workspace.setup().task.graph))
        return fail_with_remedy(
            "let a model write it: --generator anthropic:NAME, openai:NAME, a URL or mailbox:DIR",
            "the built-in generator cannot write this task: it is opaque, its reference is a PyTorch module "
            "of "
            "which there is no graph");
      agents.generators.push_back(std::make_unique<SmithGenerator>(
          problem_of(workspace.setup().bound(0), workspace.setup().machine, workspace.setup().threads,
                     workspace.setup().options.precision),
          device_language(workspace.setup().platform)));
      continue;
    }
    KF_TRY(ModelClient * model, opening.model(spec));
    agents.generators.push_back(std::make_unique<ModelGenerator>(*model));
  }
  for (const std::string& spec : split_specs(options.analyst)) {
    if (is_builtin(spec)) break;  // the rules, which never fail: nobody is asked after them
    KF_TRY(ModelClient * model, opening.model(spec));
    agents.analysts.push_back(std::make_unique<ModelAnalyst>(*model));
  }
  agents.analysts.push_back(std::make_unique<RuleAnalyst>());
  return agents;
}

}  // namespace kforge

#include "forge/agents.h"

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

Result<Agents> open_agents(const ForgeOptions& options, const ForgeHost& host, RunRecords& records,
                           const std::string& run, const Workspace& session) {
  Agents agents;
  Opening opening(options, host, records, run, agents);
  for (const std::string& spec : options.generators) {
    if (is_builtin(spec)) {
      auto smith = std::make_unique<SmithAgent>(problem_of(session.setup().bound(0), session.setup().machine,
                                                           session.setup().threads,
                                                           session.setup().options.precision));
      agents.smith = smith.get();
      agents.generators.push_back(std::move(smith));
      continue;
    }
    agents.all_builtin = false;
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

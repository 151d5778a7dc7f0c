// Where kernels run and who writes them: platforms, machines, models.
#include "base/readable.h"
#include "llm/config.h"
#include "llm/endpoint.h"
#include "machine/machine.h"
#include "serve/page.h"
#include "serve/site.h"
#include "store/run_progress.h"
#include "store/store.h"

namespace kforge::serve {
namespace {

constexpr double kPlatformsKept = 120;  // opening devices takes a while

Row row_of_platform(const Json& platform) {
  const std::string name = platform.value("name", ""), state = platform.value("state", "");
  const bool ready = state == "ready";
  return {{{name, "/results?platform=" + address_word(name)},
           {state, "", ready ? "passed" : "skipped"},
           {platform.value("kind", "")},
           {platform.value("language", "")},
           {platform.value("objective", "")},
           {platform.value("description", "")},
           {ready ? platform.value("reason", "")
                  : platform.value("reason", "") + (platform.value("remedy", "").empty() ? "" : "; ") +
                        platform.value("remedy", "")}},
          platform};
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// A model as it is set up, where it was used, or both.
struct KnownModel {
  bool set_up = false;
  std::string key_from, url;
  std::optional<ModelUse> use;
};

// Nobody is asked over a network for this: models that are set up by name, and services that have a key.
std::map<std::string, KnownModel> models_set_up(const ModelConfig& config) {
  std::map<std::string, KnownModel> models;
  std::vector<std::string> specs = config.models;
  for (const auto& [name, endpoint] : config.endpoints) specs.push_back(name);
  for (const Provider& provider : config.providers) specs.push_back(provider.name + ":");
  for (const std::string& spec : specs) {
    auto endpoint = resolve_endpoint(spec, config);
    if (!endpoint || (endpoint->local && spec.ends_with(':'))) continue;
    models[without_secrets(spec)] = {true, endpoint->key_from, endpoint->url, {}};
  }
  return models;
}

Row row_of_model(const std::string& name, const KnownModel& model) {
  const ModelUse use = model.use.value_or(ModelUse{});
  auto count = [](double value) {
    return value > 0 ? Cell{fmt::format("{:.0f}", value), "", "", value} : Cell{"", "", "", 0.0};
  };
  return {{{name},
           {model.set_up ? "yes" : "no"},
           {model.key_from},
           count(use.calls),
           count(use.lost),
           count(static_cast<double>(use.input_tokens)),
           count(static_cast<double>(use.output_tokens)),
           {use.dollars ? fmt::format("${:.2f}", *use.dollars) : "", "", "", use.dollars.value_or(0)},
           {minute_of(use.last_asked)}},
          {{"spec", name},
           {"set_up", model.set_up},
           {"url", or_null(model.url)},
           {"key_from", or_null(model.key_from)},
           {"calls", use.calls},
           {"lost_calls", use.lost},
           {"runs", use.runs},
           {"input_tokens", use.input_tokens},
           {"output_tokens", use.output_tokens},
           {"dollars", use.dollars ? Json(*use.dollars) : Json(nullptr)},
           {"seconds", use.seconds},
           {"last_asked", or_null(use.last_asked)}}};
}

Result<std::map<std::string, KnownModel>> known_models() {
  KF_TRY(ModelConfig config, load_model_config(""));
  auto models = models_set_up(config);
  KF_TRY(ProgressReader reader, ProgressReader::open());
  KF_TRY(auto uses, reader.models());
  for (ModelUse& use : uses) models[use.model].use = use;
  return models;
}

}  // namespace

Answer platforms_page(const Asked& asked, Site& site) {
  auto document = site.documents.get({"platforms"}, kPlatformsKept);
  if (!document) return refusal(asked, 500, document.error().message, document.error().remedy);
  ListView view{
      .section = "platforms", .title = "Platforms", .schema = "kforge.platforms/1", .records = "platforms"};
  view.about = "What kernels can be written for, ready on this machine or not, and why not.";
  view.columns = {{"platform", "platform"},      {"state", "state"},         {"kind", "kind"},
                  {"language", "language"},      {"objective", "objective"}, {"what"},
                  {"device, or what is missing"}};
  view.choices = {{"state", "State", {"ready", "emulated", "missing", "broken"}}};
  view.empty = "Nothing fits.";
  const std::string wanted = asked.asked("state");
  for (const Json& platform : (*document)["platforms"])
    if (wanted.empty() || platform.value("state", "") == wanted)
      view.rows.push_back(row_of_platform(platform));
  return list_page(asked, std::move(view));
}

Answer machines_page(const Asked& asked) {
  auto store = Store::open();
  if (!store) return refusal(asked, 500, store.error().message, store.error().remedy);
  auto machines = store->machines();
  if (!machines) return refusal(asked, 500, machines.error().message, machines.error().remedy);
  std::string here;
  if (auto machine = describe_machine()) {
    here = machine->id();
    const bool known = std::ranges::any_of(*machines, [&](const MachineRow& row) { return row.id == here; });
    if (!known) machines->insert(machines->begin(), {here, machine->cpu_model, "", 0});
  }
  ListView view{
      .section = "machines", .title = "Machines", .schema = "kforge.machines/1", .records = "machines"};
  view.about = "Where stored results were measured. `kforge machine` tells what this one reaches.";
  view.columns = {{"machine", "machine"},
                  {"what it is"},
                  {"this one"},
                  {"results", "results", true, true},
                  {"newest result"}};
  for (const MachineRow& row : *machines)
    view.rows.push_back(
        {{{row.id, "/results?machine=" + address_word(row.id)},
          {row.text},
          {row.id == here ? "yes" : ""},
          {std::to_string(row.results), "", "", static_cast<double>(row.results)},
          {row.last_result, row.last_result.empty() ? "" : "/results/" + address_word(row.last_result)}},
         {{"id", row.id},
          {"text", row.text},
          {"here", row.id == here},
          {"results", row.results},
          {"last_result", or_null(row.last_result)}}});
  view.empty = "Nothing fits.";
  return list_page(asked, std::move(view));
}

Answer models_page(const Asked& asked) {
  auto models = known_models();
  if (!models) return refusal(asked, 500, models.error().message, models.error().remedy);
  ListView view{.section = "models", .title = "Models", .schema = "kforge.models/1", .records = "models"};
  view.about =
      "Language models that are set up here, and those that stored runs have asked. `kforge models` tests "
      "whether they "
      "answer; this page asks nobody.";
  view.columns = {{"model", "model"},
                  {"set up", "set_up"},
                  {"key from"},
                  {"calls", "calls", true, true},
                  {"lost", "lost", true, true},
                  {"tokens in", "in", true, true},
                  {"tokens out", "out", true, true},
                  {"cost", "cost", true, true},
                  {"asked last", "last", false, true}};
  view.empty =
      "No model is set up, and none was asked: KForge works with its built-in agents. docs/models.md tells "
      "more.";
  for (const auto& [name, model] : *models) view.rows.push_back(row_of_model(name, model));
  return list_page(asked, std::move(view));
}

}  // namespace kforge::serve

// kforge models: every configured language model, tested by one tiny call.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "llm/probe_models.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTeach =
    "No language model is set up. KForge works without one (its built-in agents); to use one, either\n"
    "  export OPENAI_API_KEY=...        then: kforge models openai:NAME\n"
    "  export ANTHROPIC_API_KEY=...     then: kforge models anthropic:NAME\n"
    "  export GEMINI_API_KEY=...        then: kforge models gemini:NAME\n"
    "  export OPENROUTER_API_KEY=...    then: kforge models openrouter:NAME\n"
    "  start llama-server, Ollama, vLLM, SGLang or LM Studio on this machine, or give any address:\n"
    "                                   kforge models http://HOST:PORT/v1#NAME\n"
    "  mailbox:DIR                      a person or an assistant answers files\n"
    "Keys may also stand under [keys] in {} (mode 0600); docs/models.md has the rest.\n";

Json to_json(const ModelProbe& probe) {
  auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"spec", probe.spec},
          {"works", probe.works},
          {"problem", or_null(probe.problem.message)},
          {"remedy", or_null(probe.problem.remedy)},
          {"url", or_null(probe.url)},
          {"model", or_null(probe.model)},
          {"served_as", or_null(probe.served_as)},
          {"key_from", or_null(probe.key_from)},
          {"local", probe.local},
          {"seconds", probe.seconds > 0 ? Json(probe.seconds) : Json()},
          {"end", or_null(probe.end)},
          {"images", probe.images ? Json(*probe.images) : Json()},
          {"price_known", probe.price_known},
          {"dollars", probe.dollars ? Json(*probe.dollars) : Json()}};
}

std::string price_word(const ModelProbe& probe) {
  if (probe.local) return "free";
  return probe.price_known ? "known" : "not known";
}

void print_table(const std::vector<ModelProbe>& probes) {
  std::vector<std::vector<std::string>> lines{
      {"model", "works", "answered in", "pictures", "price", "key from"}};
  std::string problems;
  for (const ModelProbe& probe : probes) {
    bool named = probe.model.empty() || probe.spec.ends_with(probe.model);
    std::string name = named ? probe.spec : fmt::format("{} ({})", probe.spec, probe.model);
    lines.push_back({printable(name), probe.works ? "yes" : "no",
                     probe.seconds > 0 ? readable_time(probe.seconds * 1e9) : "-",
                     probe.images ? (*probe.images ? "yes" : "no") : "-", price_word(probe),
                     probe.key_from.empty() ? "-" : probe.key_from});
    if (!probe.works)
      problems += fmt::format("{}: {}\n", printable(probe.spec), printable(probe.problem.text()));
  }
  fmt::print("{}{}{}", fitted_table(lines, "", terminal_style().table_width, 1), problems.empty() ? "" : "\n",
             problems);
}

std::vector<ModelProbe> probe_all(const std::vector<std::string>& specs, const ModelConfig& config,
                                  const ModelSettings& settings) {
  std::vector<ModelProbe> probes(specs.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < specs.size(); ++i)
    threads.emplace_back([&, i] { probes[i] = probe_model(specs[i], config, settings); });
  threads.clear();  // waits for them
  return probes;
}

int run(std::vector<std::string> specs, const std::string& config_file, bool json) {
  clean_up_on_interrupt();
  auto config = load_model_config(config_file);
  if (!config) return report_error(config.error(), json);
  if (specs.empty()) specs = configured_models(*config);
  ModelSettings settings;
  settings.config_file = config_file;
  std::vector<ModelProbe> probes = probe_all(specs, *config, settings);
  bool all_work = std::ranges::all_of(probes, &ModelProbe::works);
  if (json) {
    Json list = Json::array();
    for (const ModelProbe& probe : probes) list.push_back(to_json(probe));
    fmt::print("{}\n", Json{{"schema", "kforge.models/1"}, {"config", config->file}, {"models", list}}.dump(
                           2, ' ', false, Json::error_handler_t::replace));
  } else if (probes.empty()) {
    fmt::print(fmt::runtime(kTeach), config->file);
  } else {
    print_table(probes);
  }
  return all_work ? kExitPassed : kExitNotPassed;
}

}  // namespace

void declare_models(CLI::App& command, int& exit_code) {
  struct Options {
    std::vector<std::string> specs;
    std::string config;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  command.add_option("SPEC", options->specs, "models to test; none: all that are set up");
  command.add_option("--config", options->config, "this file instead of config.toml")->type_name("FILE");
  command.add_flag("--json", options->json, "as JSON");
  command.callback(
      [options, &exit_code] { exit_code = run(options->specs, options->config, options->json); });
}

}  // namespace kforge

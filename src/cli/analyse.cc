// kforge analyse: advice on a profile that was made elsewhere.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "analyse/analyst.h"
#include "base/files.h"
#include "base/readable.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "generate/candidate.h"
#include "profile/profile_candidate.h"
#include "profile/read_profile.h"
#include "store/json_fields.h"

namespace kforge {
namespace {

struct AnalyseArguments {
  std::string profile, task, kernel, platform = "cpu", shape_set = "bench", analyst = "builtin";
  bool json = false;
};

// What the advice can rest on; the pointers of `input` point into it.
struct Case {
  Profile profile;
  Task task;
  BoundTask bound;
  Platform platform;
  AgentSetting setting;
  Attempt program;
  AnalysisInput input;
};

Result<void> open_case(const AnalyseArguments& arguments, Case& c) {
  KF_TRY(std::string content, read_file(arguments.profile, kMostProfileBytes));
  KF_TRY(c.profile, read_profile(content, fs::path(arguments.profile).filename().string()));
  c.input.profile = &c.profile;
  KF_TRY(c.platform, load_platform(arguments.platform));
  c.setting.platform = &c.platform;
  c.setting.threads = 0;
  if (!arguments.task.empty()) {
    KF_TRY(c.task, load_task(arguments.task));
    KF_TRY(c.bound, bind_task(c.task, arguments.shape_set));
    c.setting.task = &c.bound;
  }
  // Without a task or another platform named the profile speaks for itself: cpu's notes would mislead.
  if (!arguments.task.empty() || arguments.platform != "cpu") c.input.setting = &c.setting;
  if (!arguments.kernel.empty()) {
    KF_TRY(auto read, read_candidate(arguments.kernel, c.platform));
    if (!read) return fail("--kernel: {}", reason_text(read.error()));
    c.program.generation = Generation{.program = std::move(*read)};
    c.input.program = &c.program;
  }
  return {};
}

Result<Analysis> advise(const AnalyseArguments& arguments, const Case& c) {
  if (is_builtin(arguments.analyst)) {
    if (c.profile.facts.empty() && !c.profile.pictures.empty())
      return fail_with_remedy("name one that takes images: --analyst provider:model (docs/models.md)",
                              "the built-in analyst reads figures, not pictures");
    return RuleAnalyst().analyse(c.input, {});
  }
  KF_TRY(auto model, open_model(arguments.analyst, {}));
  if (c.profile.facts.empty() && !c.profile.pictures.empty() && !model->accepts_images())
    return fail_with_remedy("choose a model that takes images",
                            fmt::format("{} does not take pictures", model->name()));
  return ModelAnalyst(*model).analyse(c.input, {});
}

nlohmann::ordered_json document(const Case& c, const Analysis& analysis) {
  nlohmann::ordered_json facts = nlohmann::ordered_json::array();
  for (const Fact& fact : c.profile.facts)
    facts.push_back(
        {{"name", fact.name}, {"value", fact.value}, {"unit", fact.unit}, {"source", fact.source}});
  TokenUsage usage = total_usage(analysis.calls);
  nlohmann::ordered_json cost = {{"calls", analysis.calls.size()},
                                 {"input_tokens", usage.input},
                                 {"output_tokens", usage.output},
                                 {"dollars", nullptr}};
  if (usage.dollars) cost["dollars"] = *usage.dollars;
  return {{"schema", "kforge.analyse/1"},
          {"advice", json_of(analysis.advice)},
          {"fallback", analysis.advice.fallback.value_or("")},
          {"facts", facts},
          {"cost", cost}};
}

void print(const Case& c, const Analysis& analysis) {
  const Advice& advice = analysis.advice;
  auto row = [](const char* label, const std::string& content) {
    bool first = true;
    for (const std::string& line : wrap(content, static_cast<std::size_t>(terminal_style().width) - 14)) {
      fmt::print("  {:<12}{}\n", first ? label : "", line);
      first = false;
    }
  };
  row("bottleneck", advice.bottleneck);
  row("evidence", advice.evidence);
  row("change", advice.change);
  row("expected",
      fmt::format("{:.3g} times faster, confidence {:.0f} %", advice.expected_gain, 100 * advice.confidence));
  row("kind", fmt::format("{}, advised by {}", advice.tag, advice.by));
  if (advice.fallback) row("note", *advice.fallback);
  for (const std::string& line : c.profile.absent) row("absent", line);
}

int run(const AnalyseArguments& arguments) {
  clean_up_on_interrupt();
  Case c;
  if (auto opened = open_case(arguments, c); !opened) return report_error(opened.error(), arguments.json);
  auto analysis = advise(arguments, c);
  if (!analysis) return report_error(analysis.error(), arguments.json);
  if (arguments.json)
    fmt::print("{}\n", document(c, *analysis).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    print(c, *analysis);
  return kExitPassed;
}

}  // namespace

void declare_analyse(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<AnalyseArguments>();
  add_value(command, "--profile", arguments->profile, "FILE",
            "ncu, nsys or rocprof CSV, perf stat, callgrind.out, or a PNG")
      ->required();
  add_value(command, "--task", arguments->task, "TASK", "what the profiled program computes");
  add_value(command, "-k,--kernel", arguments->kernel, "PATH", "its source");
  add_value(command, "--on", arguments->platform, "PLATFORM", "the platform it runs on");
  add_value(command, "--shapes", arguments->shape_set, "SET", "shape set of the task");
  add_value(command, "--analyst", arguments->analyst, "SPEC", "builtin, or a model: provider:name");
  command.add_flag("--json", arguments->json, "as JSON");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace kforge

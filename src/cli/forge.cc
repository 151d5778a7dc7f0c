// kforge forge: the two agents at work until the kernel is right and fast.
#include "forge/forge.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/commands.h"
#include "cli/import_task.h"
#include "cli/interrupt.h"
#include "cli/judge_options.h"
#include "cli/options.h"
#include "search/strategy.h"

namespace kforge {
namespace {

struct ForgeArguments {
  ForgeOptions options;
  JudgeArguments judge;
  OutputArguments output;
  std::string budget, target, resume;
  std::vector<std::string> generators, without, profilers;
  int attempts = 0;
  bool no_callers = false;
};

// "a,b" and "-x a -x b" are the same.
std::vector<std::string> split(const std::vector<std::string>& given) {
  std::vector<std::string> parts;
  for (const std::string& text : given)
    for (std::string& part : split_specs(text)) parts.push_back(std::move(part));
  return parts;
}

Result<void> complete(ForgeArguments& a) {
  ForgeOptions& options = a.options;
  complete(a.judge, options.session);
  if (!a.generators.empty()) options.generators = split(a.generators);
  if (options.generators.empty()) return fail("--generator names no agent");
  for (std::string& block : split(a.without)) options.without.insert(std::move(block));
  for (std::string& profiler : split(a.profilers)) options.profilers.insert(std::move(profiler));
  if (!a.budget.empty()) {
    KF_TRY(options.budget, parse_budget(a.budget));
  }
  if (a.attempts > 0) options.budget.attempts = a.attempts;
  options.callers = !a.no_callers;
  if (!a.target.empty()) {
    KF_TRY(options.target, parse_factor(a.target));
  }
  if (options.session.task.empty() == a.resume.empty())
    return fail_with_remedy("`kforge forge TASK`, or `kforge forge --resume RUN`",
                            "forge needs a task, or a run to go on with");
  return {};
}

// A resumed run goes on as it was asked for: what is given beside --resume would be ignored.
Result<void> check_resume(const CLI::App& command) {
  constexpr std::string_view kTaken[] = {"--resume", "--json", "--quiet", "--explain", "-v"};
  for (const CLI::Option* option : command.get_options()) {
    std::string name = option->get_name();
    if (option->count() > 0 && std::ranges::find(kTaken, name) == std::end(kTaken))
      return fail_with_remedy(
          "leave it out, or start a new run (`--from RUN` begins with the best of the old one)",
          fmt::format("{} has no effect with --resume: the run goes on as it was asked for", name));
  }
  return {};
}

int run(ForgeArguments& arguments, const CLI::App& command) {
  const OutputArguments& output = arguments.output;
  auto ready = complete(arguments);
  if (ready && !arguments.resume.empty()) ready = check_resume(command);
  JudgeOptions& judge = arguments.options.session;
  if (ready)
    ready = import_in_place(judge.task, judge.python, judge.sandbox, output.silent(), arguments.judge.fit);
  if (!ready) return report_error(ready.error(), output.json);
  auto view = make_run_view(output.silent(), output.verbose > 0, output.verbose > 1);
  ForgeHost host;
  host.view = view.get();
  host.stop = stop_on_interrupt();
  host.prepared = [] { stop_gently(); };
  auto report = arguments.resume.empty() ? forge(arguments.options, host) : resume(arguments.resume, host);
  view->finish();
  if (!report) return report_error(report.error(), output.json);
  print_report(*report, output);
  if (report->ended == Ending::kInterrupted) return kExitInterrupted;
  return report->found() ? kExitPassed : kExitNotPassed;
}

}  // namespace

void declare_forge(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<ForgeArguments>();
  ForgeOptions& options = arguments->options;
  JudgeOptions& session = options.session;
  command.add_option("TASK", session.task, "name (`kforge tasks`), folder, .onnx or .py file");
  command
      .add_option(
          "-g,--generator", arguments->generators,
          "who writes: builtin (needs nothing), anthropic:NAME, openai:NAME, URL#NAME, mailbox:DIR [builtin]")
      ->type_name("SPEC");
  add_value(command, "-a,--analyst", options.analyst, "SPEC", "who analyses, likewise");
  std::vector<std::string> strategies;
  for (const StrategyEntry& entry : all_strategies()) strategies.emplace_back(entry.name);
  add_choice(command, "--strategy", options.strategy, strategies, "the search");
  add_number(command, "--width", options.width, 0, 64, "lanes, beam or islands; 0: the strategy's");
  add_number(command, "--repairs", options.repairs, 0, 100, "failed repairs before it turns away");
  add_number(command, "-n,--attempts", arguments->attempts, 0, 1'000'000, "at most so many; 0: see --budget");
  add_value(command, "--budget", arguments->budget, "LIMITS",
            "60s,2usd,200ktok [30s; with models 10 attempts]");
  add_value(command, "--target", arguments->target, "FACTOR", "stop when surely so much faster: 2.0x");
  command.add_flag("--check", options.check_only, "stop at the first that passes; time nothing");
  add_number(command, "--patience", options.patience, 0, 1'000'000, "attempts without gain; 0: by agent");
  add_value(command, "--from", options.from, "WHAT", "kernel file or run to start from");
  add_value(command, "--reference", options.reference, "WHAT", "one for another platform: file, run, auto");
  command.add_option("--without", arguments->without, "blocks of the prompt to leave out: example, ...")
      ->type_name("BLOCKS");
  command.add_option("--profiler", arguments->profilers, "further profilers of the platform, by name")
      ->type_name("NAMES");
  add_value(command, "--out", options.out, "DIR", "folder for the kernel [kforge-TASK-RUN]");
  command.add_flag("--no-callers", arguments->no_callers, "write no check/; `kforge show --out` does");
  add_value(command, "--record", options.record, "FILE", "write every model call to this cassette");
  add_value(command, "--config", options.config, "FILE", "configuration of the models");
  add_value(command, "--resume", arguments->resume, "RUN", "go on with a run that was killed or stopped");
  add_number(command, "--seed", options.seed, 0, 1'000'000'000, "of the search's draws; 0: drawn");
  add_judge_options(command, session, arguments->judge);
  add_number(command, "--rounds", options.timing_rounds, 0, 100'000,
             "timing rounds of a judging; 0: as needed");
  add_number(command, "--seconds", options.timing_seconds, 0.0, 3600.0,
             "time for the timing rounds of an attempt");
  add_output_options(command, arguments->output, "every attempt with its advice and rationale",
                     "attempts as they happen");
  command.footer(
      "Such as:  kforge forge core/softmax --out out\n"
      "          kforge forge model.onnx --set batch=32 -g anthropic:NAME --budget 2usd\n"
      "Exit code: 0 a verified program was found, 1 none, 2 wrong usage or something is missing, 130 "
      "interrupted.");
  command.callback([arguments, &command, &exit_code] { exit_code = run(*arguments, command); });
}

}  // namespace kforge

// kforge suite: many tasks, one after the other, and what came out of all of them.
#include "suite/suite.h"

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/judge_options.h"
#include "cli/options.h"
#include "forge/budget.h"
#include "import/fit.h"
#include "llm/llm.h"
#include "search/strategy.h"
#include "suite/find_kernel.h"
#include "suite/run_task.h"
#include "suite/suite_report.h"

namespace kforge {
namespace {

constexpr double kMostPrepareSeconds = 1800;          // beyond the budget, before a task is given up
constexpr double kMostSecondsOfModels = 24 * 3600.0;  // a budget without seconds
constexpr double kMostEvalSeconds = 3600;

struct SuiteArguments {
  std::string where, resume, out, kernels;
  std::string platforms = "cpu";
  std::vector<std::string> only, ablate, generators, words;
  std::string budget, reference;
  int jobs = 1;
  bool retry = false, start_anew = false;
  OutputArguments output;
  // Declared for help and spelling; a task's process reads them itself.
  std::string analyst = "builtin", strategy = "chain", precision = "fp32", shapes = "bench", python, config,
              fit;
  std::vector<std::string> without, baselines;
  int attempts = 0, threads = 0, seed = 0;
  double seconds = 2;
};

// Given to every task as they are.
constexpr std::string_view kForwarded[] = {"--generator", "--analyst", "--strategy", "--attempts", "--budget",
                                           "--seed",      "--without", "--config",   "--reference"};
constexpr std::string_view kForwardedAlways[] = {"--precision", "--shapes",  "--threads", "--baseline",
                                                 "--python",    "--seconds", "--fit"};

std::vector<std::string> all_parts(const std::vector<std::string>& given) {
  std::vector<std::string> parts;
  for (const std::string& text : given)
    for (std::string& part : parts_of(text, ',')) parts.push_back(std::move(part));
  return parts;
}

std::vector<std::string> forwarded_words(const CLI::App& command, std::span<const std::string_view> names) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options())
    if (std::ranges::find(names, option->get_name()) != names.end())
      for (const std::string& value : option->results())
        words.insert(words.end(), {option->get_name(), value});
  return words;
}

// Reads its words and does nothing. Its callback must stay what it is: it owns what the options are read
// into.
class UnrunCommand final : public CLI::App {
  void pre_callback() override { throw CLI::Success(); }
};

// What every task's process would refuse is refused once.
Result<void> check_words(void (*declare)(CLI::App&, int&), std::vector<std::string> words) {
  UnrunCommand command;
  int ignored = 0;
  declare(command, ignored);
  std::ranges::reverse(words);  // as CLI11 takes them
  try {
    command.parse(words);
  } catch (const CLI::Success&) {
    return {};
  } catch (const CLI::ParseError& error) {
    return fail_with_remedy("what stands behind -- goes to `kforge forge` (with --kernels: to `kforge eval`)",
                            error.what());
  }
  return {};
}

bool any_model(const std::vector<std::string>& generators) {
  for (const std::string& given : generators)
    for (const std::string& spec : split_specs(given))
      if (spec != "builtin") return true;
  return false;
}

Result<void> fill_forge(const SuiteArguments& a, const CLI::App& command, SuitePlan& plan) {
  KF_TRY(plan.variants,
         ablation_variants(all_parts(a.ablate), any_model(a.generators), !a.reference.empty()));
  Budget budget;
  if (!a.budget.empty()) {
    KF_TRY(budget, parse_budget(a.budget));
  }
  const bool timed = budget.seconds || !any_model(a.generators);
  plan.limit_seconds = timed ? kMostPrepareSeconds + 2 * budget.seconds.value_or(60) : kMostSecondsOfModels;
  plan.arguments = forwarded_words(command, kForwarded);
  return {};
}

Result<void> fill_eval(const SuiteArguments& a, const CLI::App& command, SuitePlan& plan) {
  if (auto given = forwarded_words(command, kForwarded); !given.empty() || !a.ablate.empty())
    return fail_with_remedy("leave it out",
                            fmt::format("{} has no effect with --kernels: nobody writes a program",
                                        given.empty() ? "--ablate" : given.front()));
  std::error_code error;
  if (!fs::is_directory(a.kernels, error)) return fail("--kernels: there is no folder {}", a.kernels);
  plan.kernels = fs::canonical(a.kernels, error).string();
  plan.variants.resize(1);
  plan.limit_seconds = kMostEvalSeconds;
  // Answers in KernelBench's form run on the platform of such modules, as with `kforge eval`.
  auto is_module = [&](const SuiteTask& task) {
    auto kernels = find_kernels(plan.kernels, task);
    return !kernels.empty() && kernels.front().extension() == ".py";
  };
  if (command["--on"]->count() == 0 && std::ranges::any_of(plan.tasks, is_module))
    plan.platforms = {"pytorch"};
  return {};
}

// Every task's process would refuse it: said once, before the first.
Result<void> check_fit(const SuiteArguments& a, const SuitePlan& plan) {
  if (a.fit.empty()) return {};
  if (auto seconds = parse_fit(a.fit); !seconds) return std::unexpected(seconds.error());
  auto other =
      std::ranges::find_if_not(plan.tasks, [](const SuiteTask& task) { return task.spec.ends_with(".py"); });
  if (other == plan.tasks.end()) return {};
  return fail_with_remedy("leave it out, or choose PyTorch files alone with --only",
                          fmt::format("--fit changes the numbers of PyTorch files; {} is none", other->name));
}

Result<SuitePlan> plan_of(const SuiteArguments& a, const CLI::App& command) {
  SuitePlan plan;
  std::error_code error;
  plan.name = fs::is_directory(a.where, error) ? fs::canonical(a.where, error).string() : a.where;
  plan.working_folder = fs::current_path(error).string();
  KF_TRY(plan.tasks, list_suite_tasks(a.where));
  KF_TRY(plan.tasks, only_tasks(std::move(plan.tasks), all_parts(a.only)));
  KF_TRY_VOID(check_fit(a, plan));
  plan.platforms = parts_of(a.platforms, ',');
  const bool judged = !a.kernels.empty();
  KF_TRY_VOID(judged ? fill_eval(a, command, plan) : fill_forge(a, command, plan));
  for (const auto& more : {forwarded_words(command, kForwardedAlways), a.words})
    plan.arguments.insert(plan.arguments.end(), more.begin(), more.end());
  std::vector<std::string> words = plan.arguments;
  words.insert(words.begin(), plan.tasks.front().spec);
  if (judged) words.insert(words.end(), {"--kernel", plan.kernels});
  KF_TRY_VOID(check_words(judged ? declare_eval : declare_forge, std::move(words)));
  return plan;
}

// The same command goes on with what it has begun.
Result<SuiteFolder> folder_for(const SuiteArguments& a, SuitePlan plan) {
  std::error_code ignored;
  if (!a.out.empty() && fs::exists(fs::path(a.out) / "suite.json", ignored)) {
    KF_TRY(SuiteFolder there, SuiteFolder::open(a.out));
    if (there.plan().key() == plan.key()) return there;
    return fail_with_remedy(
        fmt::format("name another folder; `kforge suite --resume {}` goes on with that one", a.out),
        fmt::format("{} holds another suite than the one asked for ({})", a.out, there.plan().id));
  }
  if (a.out.empty() && !a.start_anew) {
    KF_TRY(auto known, SuiteFolder::all());
    for (SuiteFolder& one : known)
      if (one.plan().key() == plan.key() && one.records().size() < plan.items()) return std::move(one);
  }
  return SuiteFolder::create(std::move(plan), a.out);
}

Result<SuiteFolder> open_suite(const SuiteArguments& a, const CLI::App& command) {
  if (a.where.empty() == a.resume.empty())
    return fail_with_remedy("`kforge suite core`, `kforge suite DIR`, or `kforge suite --resume ID`",
                            "suite needs tasks, or a suite to go on with");
  if (a.resume.empty()) {
    KF_TRY(SuitePlan plan, plan_of(a, command));
    return folder_for(a, std::move(plan));
  }
  constexpr std::string_view kTaken[] = {"--resume", "--retry", "--jobs", "--json", "--quiet"};
  for (const CLI::Option* option : command.get_options())
    if (std::string name = option->get_name();
        option->count() > 0 && std::ranges::find(kTaken, name) == std::end(kTaken))
      return fail_with_remedy(
          "leave it out, or start another suite",
          fmt::format("{} has no effect with --resume: the suite goes on as it was asked for", name));
  return SuiteFolder::find(a.resume);
}

Result<int> run_to_the_end(const SuiteArguments& a, const CLI::App& command) {
  const std::stop_token stop = stop_on_interrupt();
  KF_TRY(SuiteFolder folder, open_suite(a, command));
  stop_gently();  // from here on there is something to go on with
  KF_TRY(FileLock alone, folder.hold());
  if (a.retry)
    for (const SuiteItem& item : items_of(folder.plan()))
      if (auto record = folder.record(item); record && record->state == TaskState::kError)
        folder.forget(item);
  KF_TRY(TaskRunner runner, TaskRunner::create(folder));
  auto view = make_run_view(a.output.silent(), true, a.output.verbose > 1);
  SuiteHost host{.view = view.get(), .stop = stop, .jobs = a.jobs};
  host.run = [&](const SuiteItem& item, const std::stop_token& stop) { return runner.run(item, stop); };
  view->line(fmt::format("suite {}: {} tasks; `kforge suite --resume {}` goes on whatever happens",
                         folder.plan().id, folder.plan().items(), folder.plan().id));
  KF_TRY(bool done, run_suite(folder, host));
  SuiteReport report = suite_report_of(folder);
  KF_TRY_VOID(write_reports(report, folder.path()));
  print_report(report, a.output);
  if (!done) return kExitInterrupted;
  const bool any_error = std::ranges::any_of(report.parts, [](const SuitePart& part) {
    return std::ranges::any_of(part.records,
                               [](const SuiteRecord& r) { return r.state == TaskState::kError; });
  });
  return any_error ? kExitNotPassed : kExitPassed;
}

void declare_suite_options(CLI::App& command, SuiteArguments& a) {
  command.add_option("SUITE", a.where, "suite by name (core, fusion, llm), or a folder of tasks");
  command.add_option("FORGE", a.words, "behind --: further options of `kforge forge`, for every task");
  add_value(command, "--on", a.platforms, "NAMES", "platforms, separated by commas");
  command.add_option("--only", a.only, "tasks by pattern: 'level2/*gemm*'")
      ->type_name("PATTERNS")
      ->take_all()
      ->expected(1);
  add_number(command, "-j,--jobs", a.jobs, 1, 1024, "tasks at once, each on its share of processors");
  command.add_option("-g,--generator", a.generators, "who writes, as for `kforge forge` [builtin]")
      ->type_name("SPEC")
      ->take_all()
      ->expected(1);
  add_value(command, "-a,--analyst", a.analyst, "SPEC", "who analyses, likewise");
  std::vector<std::string> strategies;
  for (const StrategyEntry& entry : all_strategies()) strategies.emplace_back(entry.name);
  add_choice(command, "--strategy", a.strategy, strategies, "the search");
  add_value(command, "--budget", a.budget, "LIMITS",
            "for each task: 60s,2usd [30s; with models 10 attempts]");
  add_number(command, "-n,--attempts", a.attempts, 0, 1'000'000, "at most so many for a task");
  add_number(command, "--seed", a.seed, 0, 1'000'000'000, "of the search's draws; 0: drawn");
  command.add_option("--ablate", a.ablate, "also without: reference, example, profile")
      ->type_name("NAMES")
      ->take_all()
      ->expected(1);
  command.add_option("--without", a.without, "blocks of the prompt to leave out")
      ->type_name("BLOCKS")
      ->take_all()
      ->expected(1);
  add_value(command, "--reference", a.reference, "WHAT", "kernels of another platform: file, run, auto");
  add_value(command, "--config", a.config, "FILE", "configuration of the models");
  add_value(command, "--kernels", a.kernels, "DIR", "judge these, named by task, instead of writing any");
  add_value(command, "--precision", a.precision, "POLICY", "how near the values must be");
  add_value(command, "--shapes", a.shapes, "SET", "shape set of the tasks");
  add_value(command, "--fit", a.fit, "TIME", "sizes so that a .py module takes so long: 20ms");
  add_number(command, "--threads", a.threads, 0, 1024, "threads of the kernels; 0: all allowed");
  command.add_option("--baseline", a.baselines, "as for `kforge eval` [all]")
      ->type_name("WHICH")
      ->take_all()
      ->expected(1);
  add_value(command, "--python", a.python, "PATH", "Python that has the baselines' libraries");
  add_number(command, "--seconds", a.seconds, 0.0, 3600.0, "for timing rounds, as for forge or eval");
  add_value(command, "-o,--out", a.out, "DIR", "folder of the suite [in KFORGE_HOME/suites]");
  add_value(command, "--resume", a.resume, "ID", "go on with a suite: id, folder or last");
  command.add_flag("--retry", a.retry, "do tasks that ended in an error again");
  command.add_flag("--new", a.start_anew, "begin anew where the same suite is unfinished");
  command.add_flag("--json", a.output.json, "print the report as JSON");
  command.add_flag("-q,--quiet", a.output.quiet, "print nothing; the exit code tells");
}

}  // namespace

void declare_suite(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<SuiteArguments>();
  declare_suite_options(command, *arguments);
  command.footer(
      "Such as:  kforge suite core --budget 5s --only '*softmax*,*norm*'\n"
      "          kforge suite tasks/ -g anthropic:NAME --ablate reference,profile\n"
      "          kforge suite core --kernels mine/ -- --check\n"
      "The same command, or --resume, goes on after Ctrl-C or a crash.\n"
      "Exit code: 0 all tasks were worked on, 1 some could not be, 2 wrong usage or something is missing, "
      "130 "
      "interrupted.");
  command.callback([arguments, &command, &exit_code] {
    auto done = run_to_the_end(*arguments, command);
    exit_code = done ? *done : report_error(done.error(), arguments->output.json);
  });
}

}  // namespace kforge

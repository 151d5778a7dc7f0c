// kforge eval: one kernel, judged.
#include "judge/evaluate.h"

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/import_task.h"
#include "cli/interrupt.h"
#include "cli/judge_options.h"
#include "cli/options.h"
#include "report/progress.h"

namespace kforge {
namespace {

struct EvalArguments {
  EvalOptions options;
  JudgeArguments judge;
  OutputArguments output;
  bool no_build_cache = false, no_store = false, platform_given = false;
};

int run(EvalArguments& arguments) {
  EvalOptions& options = arguments.options;
  complete(arguments.judge, options);
  options.use_build_cache = !arguments.no_build_cache;
  options.store = !arguments.no_store;

  clean_up_on_interrupt();
  if (auto imported = import_in_place(options.task, options.python, options.sandbox,
                                      arguments.output.silent(), arguments.judge.fit);
      !imported)
    return report_error(imported.error(), arguments.output.json);
  // An answer to a PyTorch module is judged where such answers run, unless another platform is named.
  if (!arguments.platform_given && options.kernel.extension() == ".py" &&
      fs::exists(fs::path(options.task) / "reference.py"))
    options.platform = "pytorch";
  auto progress = make_progress(arguments.output.silent(), arguments.output.verbose ? 0 : 2);
  auto report = evaluate(options, *progress);
  progress->finish();
  if (!report) return report_error(report.error(), arguments.output.json);
  print_report(*report, arguments.output);
  return report->passed() ? kExitPassed : kExitNotPassed;
}

}  // namespace

void declare_eval(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<EvalArguments>();
  EvalOptions& options = arguments->options;
  command.add_option("TASK", options.task, "name (`kforge tasks`), folder, .onnx or .py file")->required();
  add_value(command, "-k,--kernel", options.kernel, "PATH", "the kernel: a file, or a folder with kernel.*")
      ->required();
  add_judge_options(command, options, arguments->judge);
  command.add_flag("--check", options.check_only, "judge the values only, time nothing");
  add_value(command, "--march", options.march, "NAME", "flag set of the platform [the best]");
  add_number(command, "--rounds", options.rounds, 0, 100'000, "timing rounds; 0: as many as needed");
  add_number(command, "--seconds", options.seconds, 0.0, 3600.0, "time for the timing rounds");
  command.add_flag("--no-build-cache", arguments->no_build_cache,
                   "compile even when this source was compiled before");
  command.add_flag("--no-store", arguments->no_store, "write no record of this evaluation");
  add_output_options(command, arguments->output, "every gate with its evidence",
                     "say each stage as it begins");
  command.footer(
      "Such as:  kforge eval core/softmax --kernel softmax.cc --check     (quick: values only)\n"
      "Exit code: 0 passed, 1 not passed, 2 wrong usage or something is missing, 130 interrupted.");
  command.callback([arguments, &command, &exit_code] {
    arguments->platform_given = command.get_option("--on")->count() > 0;
    exit_code = run(*arguments);
  });
}

}  // namespace kforge

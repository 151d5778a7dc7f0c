// kforge eval: one kernel, judged.
#include "forge/evaluate.h"

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"

namespace kforge {
namespace {

struct EvalArguments {
  EvalOptions options;
  std::string cache = "cold", sandbox = "strongest";
  bool no_sandbox = false, no_build_cache = false, no_store = false, json = false, explain = false,
       quiet = false;
  int verbose = 0;
};

int run(EvalArguments& arguments) {
  EvalOptions& options = arguments.options;
  options.cold = arguments.cache == "cold";
  if (arguments.no_sandbox) options.sandbox = SandboxTier::kNone;
  if (arguments.sandbox == "bubblewrap") options.sandbox = SandboxTier::kBubblewrap;
  if (arguments.sandbox == "landlock") options.sandbox = SandboxTier::kLandlock;
  options.use_build_cache = !arguments.no_build_cache;
  options.store = !arguments.no_store;

  clean_up_on_interrupt();
  auto progress = make_progress(arguments.json || arguments.quiet, arguments.verbose ? 0 : 2);
  auto report = evaluate(options, *progress);
  progress->finish();
  if (!report) return report_error(report.error(), arguments.json);
  if (arguments.json) {
    fmt::print("{}\n", to_json(*report));
  } else if (!arguments.quiet) {
    TerminalStyle style = terminal_style();
    style.explain = arguments.explain || arguments.verbose > 1;
    fmt::print("{}", to_terminal(*report, style));
  }
  return report->passed() ? kExitPassed : kExitNotPassed;
}

}  // namespace

void declare_eval(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<EvalArguments>();
  EvalOptions& options = arguments->options;
  command.add_option("TASK", options.task, "task by name (`kforge tasks`), folder or .onnx file")->required();
  add_value(command, "-k,--kernel", options.kernel, "PATH", "the kernel: a file, or a folder with kernel.*")
      ->required();
  add_value(command, "--on", options.platform, "NAME", "platform by name or folder");
  add_choice(command, "--precision", options.precision, {"fp32", "high", "bf16", "fp16"},
             "how near the values must be");
  add_value(command, "--shapes", options.shape_set, "SET", "shape set of the task");
  add_choice(command, "--cache", arguments->cache, {"cold", "warm"}, "caches before each timed call");
  add_number(command, "--threads", options.threads, 0, 1024, "threads of the kernel; 0: all allowed");
  command
      .add_option("--baseline", options.baselines,
                  "onednn, onnxruntime, torch, torch.compile, none, or NAME=FILE:\nyour own kernel; "
                  "repeatable [all that are installed]")
      ->type_name("WHICH")
      ->take_all()
      ->expected(1);
  add_value(command, "--python", options.python, "PATH", "Python that has the baselines' libraries");
  command.add_flag("--check", options.check_only, "judge the values only, time nothing");
  command.add_flag("--deterministic", options.deterministic, "require bitwise equal repeats");
  command.add_flag("--allow-libraries", options.allow_libraries,
                   "the kernel may call BLAS and oneDNN; ranked apart");
  add_value(command, "--march", options.march, "NAME",
            "flag set of the platform [the best this machine runs]");
  add_number(command, "--rounds", options.rounds, 0, 100'000,
             "timing rounds; 0: until the interval is narrow");
  add_number(command, "--seconds", options.seconds, 0.0, 3600.0, "time for the timing rounds");
  add_number(command, "--timeout", options.call_limit_seconds, 0.0, 3600.0,
             "seconds for one call; 0: from the size of the task");
  add_choice(command, "--sandbox", arguments->sandbox, {"strongest", "bubblewrap", "landlock"},
             "tier of the sandbox");
  command.add_flag("--no-sandbox", arguments->no_sandbox, "run the kernel with your own rights; recorded")
      ->excludes("--sandbox");
  command.add_flag("--no-build-cache", arguments->no_build_cache,
                   "compile even when this source was compiled before");
  command.add_flag("--no-store", arguments->no_store, "write no record of this evaluation");
  command.add_flag("--explain", arguments->explain, "every gate with its evidence");
  command.add_flag("--json", arguments->json, "print the report as JSON");
  command.add_flag("-q,--quiet", arguments->quiet, "print nothing; the exit code tells");
  command.add_flag("-v", arguments->verbose, "say each stage as it begins; -vv: also --explain");
  command.footer(
      "Exit code: 0 passed, 1 not passed, 2 wrong usage or something is missing, 130 interrupted.");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace kforge

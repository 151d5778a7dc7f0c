#include "cli/judge_options.h"

#include "cli/options.h"

namespace kforge {

void add_judge_options(CLI::App& command, JudgeOptions& judge, JudgeArguments& typed) {
  add_value(command, "--on", judge.platform, "NAME", "platform by name or folder");
  add_choice(command, "--precision", judge.precision, {"fp32", "high", "bf16", "fp16"},
             "how near the values must be");
  add_value(command, "--shapes", judge.shape_set, "SET", "shape set of the task");
  add_dims(command, judge.set);
  add_value(command, "--fit", typed.fit, "TIME", "sizes so that a .py module takes so long: 20ms");
  add_choice(command, "--cache", typed.cache, {"cold", "warm"}, "caches before each timed call");
  add_number(command, "--threads", judge.threads, 0, 1024, "threads of the kernel; 0: all allowed");
  command
      .add_option("--baseline", judge.baselines,
                  "onednn, onnxruntime, openvino, torch, torch.compile, none, or NAME=FILE [all]")
      ->type_name("WHICH")
      ->take_all()
      ->expected(1);
  add_value(command, "--python", judge.python, "PATH", "Python that has the baselines' libraries");
  command.add_flag("--deterministic", judge.deterministic, "require bitwise equal repeats");
  command.add_flag("--allow-libraries", judge.allow_libraries, "it may call BLAS and oneDNN; ranked apart");
  add_number(command, "--timeout", judge.call_limit_seconds, 0.0, 3600.0,
             "seconds for a call; 0: by the task's size");
  add_choice(command, "--sandbox", typed.sandbox, {"strongest", "bubblewrap", "landlock"},
             "tier of the sandbox");
  command.add_flag("--no-sandbox", typed.no_sandbox, "run kernels with your own rights; recorded")
      ->excludes("--sandbox");
}

void add_dims(CLI::App& command, std::vector<std::string>& set) {
  command.add_option("--set", set, "sizes in place of the set's: B=32,D=64")
      ->type_name("DIMS")
      ->take_all()
      ->expected(1);
}

void complete(const JudgeArguments& typed, JudgeOptions& judge) {
  judge.cold = typed.cache == "cold";
  if (typed.no_sandbox) judge.sandbox = SandboxTier::kNone;
  if (typed.sandbox == "bubblewrap") judge.sandbox = SandboxTier::kBubblewrap;
  if (typed.sandbox == "landlock") judge.sandbox = SandboxTier::kLandlock;
}

TerminalStyle OutputArguments::style() const {
  TerminalStyle style = terminal_style();
  style.explain = explain || verbose > 1;
  return style;
}

void add_output_options(CLI::App& command, OutputArguments& output, const std::string& explained,
                        const std::string& spoken) {
  command.add_flag("--explain", output.explain, explained);
  command.add_flag("--json", output.json, "print the report as JSON");
  command.add_flag("-q,--quiet", output.quiet, "print nothing; the exit code tells");
  command.add_flag("-v", output.verbose, spoken + "; -vv explains");
}

}  // namespace kforge

// The options that every command which judges programs takes: what is judged, on what, against whom, how
// safely; and how the result is printed. Written once, so that they mean the same everywhere.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "judge/setup.h"
#include "report/eval_terminal.h"
#include "store/eval_report.h"

namespace kforge {

// Options as they are typed, until complete() puts them into JudgeOptions.
struct JudgeArguments {
  std::string cache = "cold", sandbox = "strongest", fit;
  bool no_sandbox = false;
};
// Everything but the task, which not every command requires.
void add_judge_options(CLI::App& command, JudgeOptions& judge, JudgeArguments& typed);
void complete(const JudgeArguments& typed, JudgeOptions& judge);
// --set, for commands that only look at a task too.
void add_dims(CLI::App& command, std::vector<std::string>& set);

struct OutputArguments {
  bool json = false, explain = false, quiet = false;
  int verbose = 0;

  // What is said goes to standard error, so it may be wanted beside a document.
  bool silent() const { return quiet || (json && verbose == 0); }
  TerminalStyle style() const;
};
// `explained`, `spoken`: what --explain and -v add, for this command's help.
void add_output_options(CLI::App& command, OutputArguments& output, const std::string& explained,
                        const std::string& spoken);

// The report as asked for: JSON, a screen, or nothing.
template <class Report>
void print_report(const Report& report, const OutputArguments& output) {
  if (output.json)
    fmt::print("{}\n", to_json(report));
  else if (!output.quiet)
    fmt::print("{}", to_terminal(report, output.style()));
}

}  // namespace kforge

// The commands of `kforge`: each is one file with one function that declares its options and what it does.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace kforge {

// What a command hands back to the shell.
enum ExitCode : int {
  kExitPassed = 0,
  kExitNotPassed = 1,  // the kernel, not the machinery
  kExitUsage = 2,      // wrong usage, or something KForge needs is missing
  kExitInterrupted = 130,
};

struct CommandEntry {
  const char* name;
  const char* summary;
  // Adds the options to `command`; its callback stores the exit code.
  void (*declare)(CLI::App& command, int& exit_code);
};

std::span<const CommandEntry> all_commands();

void declare_analyse(CLI::App& command, int& exit_code);
void declare_clean(CLI::App& command, int& exit_code);
void declare_contract(CLI::App& command, int& exit_code);
void declare_mcp(CLI::App& command, int& exit_code);
void declare_compare(CLI::App& command, int& exit_code);
void declare_completion(CLI::App& command, int& exit_code);
void declare_doctor(CLI::App& command, int& exit_code);
void declare_eval(CLI::App& command, int& exit_code);
void declare_export(CLI::App& command, int& exit_code);
void declare_forge(CLI::App& command, int& exit_code);
void declare_import(CLI::App& command, int& exit_code);
void declare_help(CLI::App& command, int& exit_code);
void declare_machine(CLI::App& command, int& exit_code);
void declare_man(CLI::App& command, int& exit_code);
void declare_models(CLI::App& command, int& exit_code);
void declare_platforms(CLI::App& command, int& exit_code);
void declare_recheck(CLI::App& command, int& exit_code);
void declare_report(CLI::App& command, int& exit_code);
void declare_results(CLI::App& command, int& exit_code);
void declare_runs(CLI::App& command, int& exit_code);
void declare_serve(CLI::App& command, int& exit_code);
void declare_show(CLI::App& command, int& exit_code);
void declare_suite(CLI::App& command, int& exit_code);
void declare_tasks(CLI::App& command, int& exit_code);
void declare_version(CLI::App& command, int& exit_code);

// The error on standard error, or as a JSON object on standard output; the exit code for it.
int report_error(const Error& error, bool json);

// Parses, runs, and gives the exit code. Never throws.
int run_cli(int argc, char** argv);

}  // namespace kforge

// The table of commands, and the way from argv to one of them.
#include "cli/commands.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "cli/options.h"
#include "cli/spelling.h"

namespace kforge {

std::span<const CommandEntry> all_commands() {
  static constexpr CommandEntry kCommands[] = {
      {"forge", "write a kernel for a task, verified and fast", declare_forge},
      {"eval", "judge a kernel: is it right, and how fast is it?", declare_eval},
      {"tasks", "list the tasks, show one, check a suite", declare_tasks},
      {"runs", "list the runs of forge", declare_runs},
      {"results", "list stored results", declare_results},
      {"show", "show a stored result or run again", declare_show},
      {"recheck", "derive a stored result anew and compare", declare_recheck},
      {"platforms", "list the platforms, ready or not, and why not", declare_platforms},
      {"models", "test the language models that are set up", declare_models},
      {"analyse", "advice on a profile made elsewhere", declare_analyse},
      {"machine", "what this machine can do, measured", declare_machine},
      {"completion", "a script that completes this command line in a shell", declare_completion},
      {"man", "the manual pages", declare_man},
      {"version", "the version of KForge", declare_version},
  };
  return kCommands;
}

int report_error(const Error& error, bool json) {
  if (json) {
    nlohmann::ordered_json document = {
        {"schema", "kforge.error/1"}, {"error", error.message}, {"remedy", error.remedy}};
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print(stderr, "kforge: {}\n", error.text());
  }
  return kExitUsage;
}

namespace {

constexpr const char* kDescription =
    "KForge takes a task (an ONNX graph) and a platform and writes a kernel for it, verified and fast; or "
    "takes your\nkernel and says whether it is right and how fast it is.\n"
    "Start with:  kforge tasks\n"
    "             kforge forge TASK\n"
    "             kforge eval TASK --kernel FILE";

void declare_all(CLI::App& app, int& exit_code) {
  app.set_version_flag("--version", std::string("kforge ") + KFORGE_VERSION, "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.formatter(std::make_shared<HelpFormatter>());  // commands take it over
  app.get_formatter()->column_width(30);
  app.get_formatter()->label("OPTIONS", "options");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Subcommands", "Commands");
  app.require_subcommand(0, 1);
  for (const CommandEntry& entry : all_commands()) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    entry.declare(*command, exit_code);
  }
}

int parse_and_run(CLI::App& app, int argc, char** argv, const int& exit_code) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
    return kExitPassed;
  } catch (const CLI::ParseError& error) {
    return report_error(
        {error.what(), fmt::format("`{} --help` lists what there is", command_words(app, argc, argv))},
        false);
  }
  if (app.get_subcommands().empty()) {
    fmt::print("{}", app.help());
    return kExitUsage;
  }
  return exit_code;
}

}  // namespace

int run_cli(int argc, char** argv) {
  CLI::App app(kDescription, "kforge");
  int exit_code = kExitPassed;
  declare_all(app, exit_code);
  if (auto misspelt = find_misspelling(app, argc, argv)) return report_error(*misspelt, false);
  try {
    return parse_and_run(app, argc, argv, exit_code);
  } catch (const std::exception& error) {
    // Nothing of KForge throws; a library may, for instance when memory runs out.
    return report_error({fmt::format("stopped by an unexpected error: {}", error.what()), ""}, false);
  }
}

}  // namespace kforge

// The table of commands, and the way from argv to one of them.
#include "cli/commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/nearest.h"
#include "cli/options.h"
#include "cli/spelling.h"
#include "import/opaque_modules.h"

namespace kforge {

std::span<const CommandEntry> all_commands() {
  static constexpr CommandEntry kCommands[] = {
      {"forge", "write a kernel for a task, verified and fast", declare_forge},
      {"eval", "judge a kernel: is it right, and how fast is it?", declare_eval},
      {"suite", "every task of a suite, and the figures of all", declare_suite},
      {"import", "a PyTorch module, or a folder of them, as tasks", declare_import},
      {"tasks", "list the tasks, show one, check a suite", declare_tasks},
      {"contract", "what a kernel for a task must look like", declare_contract},
      {"runs", "list the runs of forge, and the suites", declare_runs},
      {"results", "list stored results", declare_results},
      {"show", "show a stored result, run or suite again", declare_show},
      {"report", "a run, result or suite as a page to send", declare_report},
      {"recheck", "derive a stored result anew and compare", declare_recheck},
      {"export", "a verified kernel for C, C++ or PyTorch", declare_export},
      {"compare", "two results, runs or suites side by side", declare_compare},
      {"doctor", "what is installed, what is missing, and what for", declare_doctor},
      {"platforms", "list the platforms, ready or not, and why not", declare_platforms},
      {"models", "test the language models that are set up", declare_models},
      {"serve", "the store as live pages in a browser", declare_serve},
      {"mcp", "tools for coding assistants, over stdio", declare_mcp},
      {"analyse", "advice on a profile made elsewhere", declare_analyse},
      {"machine", "what this machine can do, measured", declare_machine},
      {"clean", "give back the space of caches", declare_clean},
      {"completion", "a script that completes command lines in a shell", declare_completion},
      {"man", "the manual pages", declare_man},
      {"version", "the version of KForge", declare_version},
      {"help", "this help, or that of a command", declare_help},
  };
  return kCommands;
}

int report_error(const Error& error, bool json) {
  if (json) {
    nlohmann::ordered_json document = {
        {"schema", "kforge.error/1"}, {"error", error.message}, {"remedy", error.remedy}};
    fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    int columns = terminal_columns(STDERR_FILENO);  // a file gets its lines whole
    std::size_t width = columns > 0 ? static_cast<std::size_t>(std::max(columns, 40)) : std::string::npos / 2;
    std::string text;
    for (const std::string& line : wrap("kforge: " + error.message, width)) text += line + "\n";
    for (const std::string& line : wrap(error.remedy, width - 2)) text += "  " + line + "\n";
    fmt::print(stderr, "{}", text);
  }
  return kExitUsage;
}

namespace {

constexpr const char* kDescription =
    "KForge takes a task (an ONNX graph) and a platform and writes a kernel for it, verified and fast; or "
    "takes your kernel and says whether it is right and how fast it is.\n"
    "Start with:  kforge doctor                   is all there that it needs?\n"
    "             kforge tasks                    what there is to compute\n"
    "             kforge forge TASK               a kernel for it\n"
    "             kforge eval TASK --kernel FILE  your own kernel, judged\n";

void declare_all(CLI::App& app, int& exit_code) {
  app.set_version_flag("--version", std::string("kforge ") + KFORGE_VERSION, "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.formatter(std::make_shared<HelpFormatter>());  // commands take it over
  app.require_subcommand(0, 1);
  for (const CommandEntry& entry : all_commands()) {
    CLI::App* command = app.add_subcommand(entry.name, entry.summary);
    command->group("Commands");
    entry.declare(*command, exit_code);
  }
}

// Errors of usage come before any option is read.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
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
        wants_json(argc, argv));
  }
  if (app.get_subcommands().empty()) {
    fmt::print("{}", app.help());
    return kExitUsage;
  }
  return exit_code;
}

}  // namespace

// What was printed must have arrived: a full disk is no success.
int with_output_written(int exit_code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return exit_code;
  return report_error({fmt::format("the output could not be written: {}", std::strerror(errno)), ""}, false);
}

int run_cli(int argc, char** argv) {
  CLI::App app(kDescription, "kforge");
  int exit_code = kExitPassed;
  declare_all(app, exit_code);
  set_opaque_modules(pytorch_modules({}, std::nullopt));  // until a command knows better
  if (auto misspelt = find_misspelling(app, argc, argv))
    return with_output_written(report_error(*misspelt, wants_json(argc, argv)));
  try {
    return with_output_written(parse_and_run(app, argc, argv, exit_code));
  } catch (const std::system_error& error) {
    if (std::ferror(stdout))
      return report_error({fmt::format("the output could not be written: {}", error.code().message()), ""},
                          false);
    return report_error({fmt::format("stopped by an unexpected error: {}", error.what()), ""}, false);
  } catch (const std::bad_alloc&) {
    return report_error({"the memory of this machine is used up", "smaller shapes need less: --shapes small"},
                        false);
  } catch (const std::exception& error) {
    // Nothing of KForge throws; a library may, for instance when memory runs out.
    return report_error({fmt::format("stopped by an unexpected error: {}", error.what()), ""}, false);
  }
}

}  // namespace kforge

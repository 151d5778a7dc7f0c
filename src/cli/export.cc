// kforge export: a verified kernel as a folder that builds and tests itself.
#include "export/export.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "report/progress.h"

namespace kforge {
namespace {

struct ExportArguments {
  ExportRequest request;
  bool json = false;
};

std::string exported_json(const Exported& exported) {
  return nlohmann::ordered_json{{"schema", "kforge.exported/1"}, {"folder", exported.folder.string()},
                                {"name", exported.name},         {"as", exported.as},
                                {"task", exported.task},         {"result", exported.report.result_id},
                                {"verdict", exported.verdict},   {"caveats", exported.caveats},
                                {"commands", exported.commands}, {"files", exported.files}}
      .dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string exported_text(const Exported& exported) {
  TerminalStyle style = terminal_style();
  Paint paint(style.colour);
  std::string text = fmt::format("{}  result {}, as {}\n", paint.strong(printable(exported.task)),
                                 exported.report.result_id, exported.as);
  auto add = [&](const std::string& words) {
    for (const std::string& line : wrap(words, static_cast<std::size_t>(style.width) - 2))
      text += "  " + line + "\n";
  };
  add(printable(exported.verdict));
  for (const std::string& caveat : exported.caveats) add("- " + printable(caveat));
  text += fmt::format("\n{} files in {}\nBuild and test it:\n  cd {}\n", exported.files.size(),
                      exported.folder.string(), shell_quoted(exported.folder.string()));
  for (const std::string& command : exported.commands) text += "  " + command + "\n";
  return text;
}

int run(ExportArguments& arguments) {
  clean_up_on_interrupt();
  auto progress = make_progress(arguments.json);
  auto exported = export_program(arguments.request, *progress);
  progress->finish();
  if (!exported) return report_error(exported.error(), arguments.json);
  fmt::print("{}", arguments.json ? exported_json(*exported) + "\n" : exported_text(*exported));
  return kExitPassed;
}

}  // namespace

void declare_export(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<ExportArguments>();
  ExportRequest& request = arguments->request;
  command
      .add_option("ID", request.id, "result or run: id, a prefix that fits only one, or \"last\" (result)")
      ->required();
  add_choice(command, "--as", request.as, kExportForms, "what to make of it");
  add_value(command, "-o,--out", request.out, "DIR", "the folder to write [NAME-FORM here]");
  add_value(command, "--name", request.name, "NAME", "of functions and package [the task's]");
  add_number(command, "--case", request.shape_case, 0, 1000,
             "which shape of a weighted list, from 1; 0: the only one");
  command.add_flag("--json", arguments->json, "what was written, as JSON");
  command.footer(
      "Only what is verified on a processor leaves KForge; what cannot is refused with the reason.\n"
      "Such as:  kforge export last --as cpp -o mine && cmake -S mine -B mine/build");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace kforge

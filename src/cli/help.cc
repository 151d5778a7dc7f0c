// kforge help: what --help prints, asked for in another way.
#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/options.h"

namespace kforge {
namespace {

Result<std::string> help_of(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  std::string name = app.get_name();
  for (const std::string& word : words) {
    std::vector<std::string> known;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : at->get_subcommands({})) {
      known.push_back(command->get_name());
      if (command->get_name() == word) next = command;
    }
    if (!next)
      return fail_with_remedy("`kforge help` lists the commands",
                              fmt::format("{} has no command {}{}", name, word, did_you_mean(word, known)));
    at = next;
    name += " " + word;
  }
  // Not help(): that of the program is the help of the command that was chosen.
  return at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal);
}

}  // namespace

void declare_help(CLI::App& command, int& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  command.add_option("COMMAND", *words, "the command, such as forge or tasks show [kforge itself]");
  command.callback([words, &command, &exit_code] {
    auto text = help_of(*command.get_parent(), *words);
    if (text) fmt::print("{}", *text);
    exit_code = text ? kExitPassed : report_error(text.error(), false);
  });
}

}  // namespace kforge

// kforge man: the manual pages, one printed or all written to a folder.
#include <CLI/CLI.hpp>

#include "base/files.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/man_page.h"
#include "cli/options.h"

namespace kforge {
namespace {

Result<void> write_all(const CommandNode& root, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail("{} cannot be made: {}", folder.string(), error.message());
  for (const CommandNode* node : all_nodes(root))
    KF_TRY_VOID(write_file_atomic(folder / man_file_name(*node), man_page(*node, KFORGE_VERSION)));
  return {};
}

Result<void> print_one(const CommandNode& root, const std::string& words) {
  std::vector<std::string> known;
  for (const CommandNode* node : all_nodes(root)) {
    if (node->words == words) {
      fmt::print("{}", man_page(*node, KFORGE_VERSION));
      return {};
    }
    known.push_back(node->words);
  }
  return fail("there is no command {}{}", words, did_you_mean(words, known));
}

}  // namespace

void declare_man(CLI::App& command, int& exit_code) {
  struct Arguments {
    std::vector<std::string> words;
    std::string folder;
  };
  auto a = std::make_shared<Arguments>();
  command.add_option("COMMAND", a->words, "the command [kforge itself]");
  add_value(command, "--to", a->folder, "DIR", "write every page to this folder");
  command.callback([a, &command, &exit_code] {
    CommandNode root = command_tree(*command.get_parent());
    std::string words;
    for (const std::string& word : a->words) words += (words.empty() ? "" : " ") + word;
    auto done = a->folder.empty() ? print_one(root, words) : write_all(root, a->folder);
    exit_code = done ? kExitPassed : report_error(done.error(), false);
  });
}

}  // namespace kforge

// kforge completion: a script that completes kforge's command line in a shell.
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/completion_script.h"
#include "cli/options.h"

namespace kforge {

void declare_completion(CLI::App& command, int& exit_code) {
  auto shell = std::make_shared<std::string>();
  add_choice(command, "SHELL", *shell, {"bash", "zsh", "fish"}, "the shell")->required();
  command.callback([shell, &command, &exit_code] {
    CommandNode root = command_tree(*command.get_parent());
    fmt::print("{}", *shell == "bash"  ? bash_completion(root)
                     : *shell == "zsh" ? zsh_completion(root)
                                       : fish_completion(root));
    exit_code = kExitPassed;
  });
}

}  // namespace kforge

// Completion of kforge's command line, as a script for a shell.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace kforge {

std::string bash_completion(const CommandNode& root);
std::string zsh_completion(const CommandNode& root);
std::string fish_completion(const CommandNode& root);

}  // namespace kforge

// Manual pages in the language of man(7), one for the program and one for each command.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace kforge {

// "kforge-tasks-show.1"
std::string man_file_name(const CommandNode& node);

std::string man_page(const CommandNode& node, const std::string& version);

}  // namespace kforge

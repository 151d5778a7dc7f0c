// The commands and their options as plain records, read from the parser itself: what completions and manual
// pages are made from, so that neither can forget an option.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kforge {

struct OptionEntry {
  std::vector<std::string> names;  // "-g", "--generator"; empty for a positional argument
  std::string argument;            // "SPEC"; the name of a positional argument; empty for a flag
  std::string what;
};

struct CommandNode {
  std::string words;  // "tasks show"; empty for the program itself
  std::string what;
  std::vector<OptionEntry> options;
  std::vector<CommandNode> commands;

  std::string name() const { return words.substr(words.rfind(' ') + 1); }
  bool takes_task() const;  // its first positional argument is the name of a task
};

CommandNode command_tree(const CLI::App& app);

// The program, its commands, their commands: each with all that follow below it.
std::vector<const CommandNode*> all_nodes(const CommandNode& root);

}  // namespace kforge

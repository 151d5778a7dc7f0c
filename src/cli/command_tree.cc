#include "cli/command_tree.h"

#include <CLI/CLI.hpp>

namespace kforge {
namespace {

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry{.names = {}, .argument = {}, .what = option.get_description()};
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (entry.names.empty())
    entry.argument = option.get_name(true);
  else if (option.get_type_size() != 0)
    entry.argument = option.get_type_name();
  return entry;
}

CommandNode node_of(const CLI::App& app, const std::string& words) {
  CommandNode node{.words = words, .what = app.get_description(), .options = {}, .commands = {}};
  for (const CLI::Option* option : app.get_options()) node.options.push_back(entry_of(*option));
  for (const CLI::App* command : app.get_subcommands({}))
    node.commands.push_back(node_of(*command, words + (words.empty() ? "" : " ") + command->get_name()));
  return node;
}

void collect(const CommandNode& node, std::vector<const CommandNode*>& all) {
  all.push_back(&node);
  for (const CommandNode& command : node.commands) collect(command, all);
}

}  // namespace

bool CommandNode::takes_task() const {
  for (const OptionEntry& option : options)
    if (option.names.empty()) return option.argument == "TASK" || words == "tasks show";
  return false;
}

CommandNode command_tree(const CLI::App& app) { return node_of(app, ""); }

std::vector<const CommandNode*> all_nodes(const CommandNode& root) {
  std::vector<const CommandNode*> all;
  collect(root, all);
  return all;
}

}  // namespace kforge

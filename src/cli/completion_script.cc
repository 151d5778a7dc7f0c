// The scripts hold what is fixed (commands, options) as text and ask the program for what is not (names of
// tasks). Where an option or an argument names a file, the shell's own completion of files answers.
#include "cli/completion_script.h"

#include <fmt/format.h>

namespace kforge {
namespace {

// A walk over the words typed so far that leaves the command in `chosen`: "tasks show". Options are passed
// over; a word that is no command ends nothing, since it may be the value of an option.
constexpr const char* kWalk = R"sh(  local chosen="" word
  for word in "${%WORDS%[@]:1:%COUNT%}"; do
    case " $(_kforge_commands "$chosen") " in
      *" $word "*) chosen="${chosen:+$chosen }$word" ;;
    esac
  done
)sh";

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

std::string first_sentence(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string command_names(const CommandNode& node) {
  std::string names;
  for (const CommandNode& command : node.commands) names += (names.empty() ? "" : " ") + command.name();
  return names;
}

std::string option_names(const CommandNode& node) {
  std::string names;
  for (const OptionEntry& option : node.options)
    for (const std::string& name : option.names) names += (names.empty() ? "" : " ") + name;
  return names;
}

// A function of the shell that prints the commands below a command.
std::string commands_function(const CommandNode& root) {
  std::string text = "_kforge_commands() {\n  case \"$1\" in\n";
  for (const CommandNode* node : all_nodes(root))
    if (!node->commands.empty())
      text += fmt::format("    \"{}\") echo \"{}\" ;;\n", node->words, command_names(*node));
  return text + "  esac\n}\n\n";
}

std::string task_cases(const CommandNode& root) {
  std::string cases;
  for (const CommandNode* node : all_nodes(root))
    if (node->takes_task()) cases += (cases.empty() ? "\"" : " | \"") + node->words + "\"";
  return cases;
}

// 'text' in single quotes, as zsh and fish read it.
std::string quoted(std::string text, bool fish) {
  return "'" + replaced(std::move(text), "'", fish ? "\\'" : "'\\''") + "'";
}

// "name:what it does" for zsh's _describe, where a colon inside the name would end it.
std::string described(const std::string& name, const std::string& what) {
  return quoted(replaced(name, ":", "\\:") + ":" + first_sentence(what), false);
}

}  // namespace

std::string bash_completion(const CommandNode& root) {
  std::string text = "# bash completion for kforge; made by `kforge completion bash`\n";
  text += commands_function(root);
  text += "_kforge_options() {\n  case \"$1\" in\n";
  for (const CommandNode* node : all_nodes(root))
    text += fmt::format("    \"{}\") echo \"{}\" ;;\n", node->words, option_names(*node));
  text += "  esac\n}\n\n_kforge() {\n  local cur=${COMP_WORDS[COMP_CWORD]}\n";
  text += replaced(replaced(kWalk, "%WORDS%", "COMP_WORDS"), "%COUNT%", "COMP_CWORD - 1");
  text += fmt::format(R"sh(  COMPREPLY=()
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$(_kforge_options "$chosen")" -- "$cur"))
    return
  fi
  COMPREPLY=($(compgen -W "$(_kforge_commands "$chosen")" -- "$cur"))
  case "$chosen" in
    {}) COMPREPLY+=($(compgen -W "$(kforge tasks --names 2>/dev/null)" -- "$cur")) ;;
  esac
}}
complete -o default -F _kforge kforge
)sh",
                      task_cases(root));
  return text;
}

std::string zsh_completion(const CommandNode& root) {
  std::string text = "#compdef kforge\n# zsh completion for kforge; made by `kforge completion zsh`\n";
  text += commands_function(root);
  text += "_kforge() {\n";
  text += replaced(replaced(kWalk, "%WORDS%", "words"), "%COUNT%", "CURRENT - 2");
  text += "  local -a commands options tasks\n  case \"$chosen\" in\n";
  for (const CommandNode* node : all_nodes(root)) {
    text += fmt::format("    \"{}\")\n      commands=(", node->words);
    for (const CommandNode& command : node->commands)
      text += "\n        " + described(command.name(), command.what);
    text += ")\n      options=(";
    for (const OptionEntry& option : node->options)
      for (const std::string& name : option.names) text += "\n        " + described(name, option.what);
    text += ")\n      ;;\n";
  }
  text += fmt::format(R"sh(  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option options
    return
  fi
  (( ${{#commands}} )) && _describe command commands
  case "$chosen" in
    {}) tasks=(${{(f)"$(kforge tasks --names 2>/dev/null)"}}) && compadd -a tasks ;;
  esac
  _files
}}
# As a file in $fpath this is the function itself; read by a start-up file it registers it.
if [[ ${{funcstack[1]}} == _kforge ]]; then
  _kforge "$@"
else
  compdef _kforge kforge
fi
)sh",
                      task_cases(root));
  return text;
}

std::string fish_completion(const CommandNode& root) {
  std::string text = "# fish completion for kforge; made by `kforge completion fish`\n";
  for (const CommandNode* node : all_nodes(root)) {
    std::string condition = "__fish_use_subcommand";
    if (!node->words.empty())
      condition =
          "__fish_seen_subcommand_from " + replaced(node->words, " ", "; and __fish_seen_subcommand_from ");
    auto line = [&](const std::string& rest, const std::string& what) {
      text += fmt::format("complete -c kforge -n {}{} -d {}\n", quoted(condition, true), rest,
                          quoted(first_sentence(what), true));
    };
    for (const CommandNode& command : node->commands) line(" -a " + command.name(), command.what);
    for (const OptionEntry& option : node->options) {
      std::string names;
      for (const std::string& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!names.empty()) line(names + (option.argument.empty() ? "" : " -r"), option.what);
    }
    if (node->takes_task()) line(" -a \"(kforge tasks --names 2>/dev/null)\"", "task");
  }
  return text;
}

}  // namespace kforge

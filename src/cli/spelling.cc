#include "cli/spelling.h"

#include <CLI/CLI.hpp>

#include "base/nearest.h"

namespace kforge {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands({}))
    if (command->get_name() == name) return command;
  return nullptr;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What people who come from elsewhere type, and what it is called here.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"--platform", "--on"},
    {"--device", "--on"},
    {"--target-platform", "--on"},
    {"--output", "--out"},
    {"--dtype", "--precision"},
    {"--tolerance", "--precision"},
    {"--model", "--generator"},
    {"--time", "--budget"},
    {"--source", "--kernel"},
    {"--file", "--kernel"},
    {"--dims", "--set"},
    {"--batch", "--set"},
    {"--size", "--set"},
    {"--iterations", "--rounds"},
    {"--repeat", "--rounds"},
    {"--jobs", "--threads"},
    {"--verbose", "-v"},
    {"--continue", "--resume"},
    {"generate", "forge"},
    {"run", "forge"},
    {"optimize", "forge"},
    {"optimise", "forge"},
    {"verify", "eval"},
    {"evaluate", "eval"},
    {"judge", "eval"},
    {"bench", "eval"},
    {"benchmark", "eval"},
    {"test", "eval"},
    {"list", "tasks"},
    {"ls", "tasks"},
    {"history", "results"},
    {"log", "results"},
    {"diff", "compare"},
    {"devices", "platforms"},
    {"targets", "platforms"},
    {"check", "doctor"},
    {"setup", "doctor"},
    {"status", "runs"},
    {"gc", "clean"},
    {"resume", "forge --resume"},
};

std::string meant(const std::string& word, const std::vector<std::string>& known) {
  for (const auto& [foreign, ours] : kSynonyms)
    if (word == foreign && (ours == "-v" || contains(known, std::string(ours.substr(0, ours.find(' '))))))
      return fmt::format(" (did you mean '{}'?)", ours);
  return did_you_mean(word, known);
}

// Options above a command are not looked for: every command has all its own.
std::optional<Error> check_option(const CLI::App& command, std::string word) {
  word = word.substr(0, word.find('='));
  std::vector<std::string> known = option_names(command);
  if (word.size() <= 2 || contains(known, word)) return std::nullopt;
  return Error{fmt::format("{} has no option {}{}", command.get_name(), word, meant(word, known)),
               fmt::format("`kforge {}--help` lists the options",
                           command.get_parent() ? command.get_name() + " " : "")};
}

}  // namespace

std::string command_words(const CLI::App& app, int argc, char** argv) {
  std::string words = app.get_name();
  const CLI::App* at = &app;
  for (int i = 1; i < argc && (at = subcommand(*at, argv[i])); ++i) words += fmt::format(" {}", argv[i]);
  return words;
}

std::optional<Error> find_misspelling(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--") return std::nullopt;
    if (word.starts_with("--")) {
      if (auto error = check_option(*command, word)) return error;
    } else if (word.starts_with("-")) {
      continue;
    } else if (const CLI::App* next = subcommand(*command, word)) {
      command = next;
    } else if (command == &app) {
      return Error{fmt::format("there is no command {}{}", word, meant(word, command_names(app))),
                   "`kforge --help` lists the commands"};
    }
  }
  return std::nullopt;
}

}  // namespace kforge

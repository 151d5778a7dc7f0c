// Options as KForge's help shows them: one line each, the default or the choices beside the name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace kforge {

// "--shapes SET=bench". An empty default is not printed.
template <class T>
CLI::Option* add_value(CLI::App& command, const std::string& name, T& value, const std::string& type,
                       const std::string& what) {
  return command.add_option(name, value, what)->type_name(type)->capture_default_str();
}

// One of a few words: "--cache WORD=cold", the words in the description.
inline CLI::Option* add_choice(CLI::App& command, const std::string& name, std::string& value,
                               const std::vector<std::string>& words, const std::string& what) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  CLI::Validator known(
      [words, list](std::string& given) {
        bool found = std::find(words.begin(), words.end(), given) != words.end();
        return found ? std::string() : "'" + given + "' is none of " + list;
      },
      "");
  return add_value(command, name, value, "WORD", what + ": " + list)->check(known);
}

template <class T>
CLI::Option* add_number(CLI::App& command, const std::string& name, T& value, T least, T most,
                        const std::string& what) {
  return add_value(command, name, value, "N", what)->check(CLI::Range(least, most).description(""));
}

// CLI11's own words for required and excluding options make lines long; the messages say it when it matters.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() == 0) return text;
    if (!option->get_type_name().empty() && !option->get_positional()) text += " " + option->get_type_name();
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    return text;
  }
};

}  // namespace kforge

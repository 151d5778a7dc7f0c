// Options as KForge's help shows them: one line each, the default or the choices beside the name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/readable.h"
#include "report/eval_terminal.h"

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

// Help in lines that fit the terminal: 80 columns, or what there is. CLI11's own words for required and
// excluding options make lines long; the messages say it when it matters.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() : width_(static_cast<std::size_t>(std::min(terminal_style().width, 80))) {
    column_width(width_ < 60 ? 4 : 30);
    label("OPTIONS", "options");
    label("SUBCOMMAND", "COMMAND");
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), get_column_width());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    CLI::detail::format_help(out, command->get_name(),
                             wrapped(command->get_description(), get_column_width()), get_column_width());
    return out.str();
  }
  std::string make_description(const CLI::App* command) const override {
    return wrapped(command->get_description(), 0) + "\n";
  }
  std::string make_usage(const CLI::App* command, std::string name) const override {
    return wrapped(CLI::Formatter::make_usage(command, std::move(name)), 0) + "\n";
  }
  std::string make_footer(const CLI::App* command) const override {
    std::string footer = command->get_footer();
    return footer.empty() ? footer : wrapped(footer, 0) + "\n";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() == 0) return text;
    if (!option->get_type_name().empty() && !option->get_positional()) text += " " + option->get_type_name();
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    return text;
  }

 private:
  std::string wrapped(const std::string& text, std::size_t indent) const {
    std::string lines;
    for (const std::string& line : wrap(text, width_ - indent)) lines += (lines.empty() ? "" : "\n") + line;
    return lines;
  }

  std::size_t width_;
};

}  // namespace kforge

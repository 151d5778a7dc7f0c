#include "cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>

namespace kforge {
namespace {

// "kforge-tasks-show"
std::string page_name(const CommandNode& node) {
  std::string name = node.words.empty() ? "kforge" : "kforge " + node.words;
  std::ranges::replace(name, ' ', '-');
  return name;
}

// Backslashes and hyphens have a meaning of their own in roff, and so have a dot or a quote at the start of a
// line.
std::string escaped(const std::string& text) {
  std::string safe;
  bool line_start = true;
  for (char c : text) {
    if (line_start && (c == '.' || c == '\'')) safe += "\\&";
    if (c == '\\')
      safe += "\\e";
    else if (c == '-')
      safe += "\\-";
    else
      safe += c;
    line_start = c == '\n';
  }
  return safe;
}

std::string synopsis(const CommandNode& node) {
  std::string text = fmt::format(".B {}\n", escaped(node.words.empty() ? "kforge" : "kforge " + node.words));
  if (!node.commands.empty()) text += node.words.empty() ? ".I COMMAND\n" : "[\\fICOMMAND\\fR]\n";
  for (const OptionEntry& option : node.options)
    if (option.names.empty()) text += fmt::format(".I {}\n", escaped(option.argument));
  return text + "[\\fIoptions\\fR]\n";
}

std::string option_entry(const OptionEntry& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
  std::string argument = option.argument.empty() ? "" : fmt::format("\\fI{}\\fR", escaped(option.argument));
  return fmt::format(".TP\n{}{}{}\n{}\n", names, names.empty() || argument.empty() ? "" : " ", argument,
                     escaped(option.what));
}

constexpr const char* kExitStatus = R"(.SH EXIT STATUS
.TP
.B 0
done; for eval: passed; for forge: a verified program was found
.TP
.B 1
not passed
.TP
.B 2
wrong usage, or something that KForge needs is missing
.TP
.B 130
interrupted
.SH ENVIRONMENT
.TP
.B KFORGE_HOME
where the store, caches and measured peaks live
.TP
.B KFORGE_DATA
the folder with the tasks and platforms
.TP
.B NO_COLOR
no colours
)";

}  // namespace

std::string man_file_name(const CommandNode& node) { return page_name(node) + ".1"; }

std::string man_page(const CommandNode& node, const std::string& version) {
  std::string upper = page_name(node);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  bool root = node.words.empty();
  std::string name_line = root ? "write compute kernels, verify them, and time them honestly" : node.what;
  std::string text = fmt::format(".TH {} 1 \"\" \"kforge {}\" \"KForge\"\n.SH NAME\n{} \\- {}\n",
                                 escaped(upper), version, escaped(page_name(node)), escaped(name_line));
  text += ".SH SYNOPSIS\n" + synopsis(node);
  if (root) text += ".SH DESCRIPTION\n.nf\n" + escaped(node.what) + "\n.fi\n";
  if (!node.commands.empty()) {
    text += ".SH COMMANDS\n";
    for (const CommandNode& command : node.commands)
      text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", escaped(page_name(command)), escaped(command.what));
  }
  text += ".SH OPTIONS\n";
  for (const OptionEntry& option : node.options) text += option_entry(option);
  text += kExitStatus;
  if (!root) text += ".SH SEE ALSO\n.BR kforge (1)\n";
  return text;
}

}  // namespace kforge

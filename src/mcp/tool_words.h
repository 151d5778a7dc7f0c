// From the arguments of a tool to the words of a command line, and from its answer to the tool's.
#pragma once

#include "mcp/own_program.h"

namespace kforge::mcp {

inline constexpr double kQuick = 60, kLong = 1800;  // seconds that a call may take

// The argument, or what stands for it where it is not given.
inline std::string text(const Json& arguments, const char* name, const char* otherwise = "") {
  return arguments.value(name, std::string(otherwise));
}

// A call as the command line's words, built up from arguments; the first thing that is wrong stays.
class Words {
 public:
  Words(const OwnProgram& program, const Json& arguments, std::vector<std::string> begin)
      : program_(program), arguments_(arguments), words_(std::move(begin)) {}

  Words& positional(const char* name) {
    if (!arguments_.contains(name)) return *this;
    return add(plain_word(name, text(arguments_, name)));
  }
  // A task is a name, or a file or folder under the root.
  Words& task() { return name_or_path("task"); }
  Words& name_or_path(const char* name) { return add(program_.name_or_path(name, text(arguments_, name))); }
  Words& path(const std::string& given) {
    auto inside = program_.inside(given);
    return add(inside ? Result<std::string>(inside->string()) : std::unexpected(inside.error()));
  }
  // The same behind an option, once for each of several.
  Words& named(const char* name, const char* option_name) {
    if (!arguments_.contains(name)) return *this;
    const Json& value = arguments_[name];
    for (const Json& item : value.is_array() ? value : Json::array({value})) {
      auto word = program_.name_or_path(name, item.get<std::string>());
      add(word ? Result<std::string>(fmt::format("{}={}", option_name, *word))
               : std::unexpected(word.error()));
    }
    return *this;
  }
  Words& option(const char* name, const char* option_name) {
    if (!arguments_.contains(name)) return *this;
    const Json& value = arguments_[name];
    if (value.is_boolean()) {
      if (value.get<bool>()) words_.emplace_back(option_name);
      return *this;
    }
    const Json list = value.is_array() ? value : Json::array({value});
    for (const Json& item : list) {
      // One word, so that nothing can be taken for another option.
      words_.push_back(
          fmt::format("{}={}", option_name, item.is_string() ? item.get<std::string>() : item.dump()));
    }
    return *this;
  }
  Words& word(std::string one) {
    words_.push_back(std::move(one));
    return *this;
  }
  Result<std::vector<std::string>> finish() {
    if (wrong_) return std::unexpected(*wrong_);
    words_.emplace_back("--json");
    return words_;
  }

 private:
  Words& add(Result<std::string> one) {
    if (one)
      words_.push_back(std::move(*one));
    else if (!wrong_)
      wrong_ = one.error();
    return *this;
  }
  const OwnProgram& program_;
  const Json& arguments_;
  std::vector<std::string> words_;
  std::optional<Error> wrong_;
};

ToolResult shown(const OwnProgram::Answer& answer);
// Puts a sentence before the figures, which are repeated as text for hosts that read nothing else.
void tell(ToolResult& result, const std::string& summary);
ToolResult run(const OwnProgram& program, Words words, const ToolCall& call, double limit);

// Arguments that several tools have.
Json task_argument();
Json platform_argument();
Json shapes_argument();
Json precision_argument();
Json baselines_argument();
Json attempts_argument();

}  // namespace kforge::mcp

// Tools do what the command line does: each call is this program with --json in a process of its own. So the
// two cannot differ, a call that crashes or is cancelled leaves the server as it was, and nothing is printed
// between the protocol's lines.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "mcp/tool.h"

namespace kforge::mcp {

namespace fs = std::filesystem;

class OwnProgram {
 public:
  // The program that runs now. An Error: `root` is no folder.
  static Result<OwnProgram> here(const std::string& root);
  // Paths in arguments are relative to `root`, and none may leave it.
  OwnProgram(fs::path program, fs::path root) : program_(std::move(program)), root_(std::move(root)) {}

  struct Answer {
    int exit_code = 0;
    std::string out;  // what it printed
    Json document;    // the same as JSON; null: it is none
  };
  // An Error says what went wrong with the process itself.
  Result<Answer> run(std::vector<std::string> arguments, const std::stop_token& stop,
                     double limit_seconds) const;
  // For a tool: stops when the call does, and tells its client the stages that the command says (-v).
  Result<Answer> run_for(const ToolCall& call, std::vector<std::string> arguments,
                         double limit_seconds) const;

  // A file of the user's, as an absolute path: an Error if it lies outside of the root.
  Result<fs::path> inside(const std::string& path) const;
  // What is known by name (a task, a platform) or lies in a file or folder of the user's: the word as it is,
  // or the path. "NAME=PATH" is a baseline of the user's.
  Result<std::string> name_or_path(const std::string& what, const std::string& value) const;

 private:
  Result<Answer> run(std::vector<std::string> arguments, const std::stop_token& stop, double limit_seconds,
                     std::function<void(std::string_view)> on_error_line) const;

  fs::path program_, root_;
};

// A word that cannot be taken for an option.
Result<std::string> plain_word(const std::string& name, const std::string& value);

}  // namespace kforge::mcp

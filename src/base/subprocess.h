// Runs one trusted program (a tool KForge starts itself), waits for it, and captures what it printed.
// Untrusted programs go through sandbox/.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace kforge {

struct Command {
  std::vector<std::string> argv;                          // argv[0] is looked up in PATH
  std::optional<std::map<std::string, std::string>> env;  // nothing: inherit all but keys
  std::filesystem::path cwd;                              // empty: inherit
  std::string input;                                      // given on standard input
  std::chrono::milliseconds timeout{60'000};
  std::size_t output_limit = 1 << 20;  // bytes kept of each stream; the rest is read and dropped
  bool dies_with_us = false;           // killed also when this process is, however that happens
  std::stop_token stop;  // asks it to end (SIGINT), as Ctrl-C would; it is waited for all the same
  // Told of each whole line of its standard error as it comes, in the thread that waits; may be empty.
  std::function<void(std::string_view)> on_error_line;
};

struct Finished {
  int exit_code = 0;  // meaningful when signal == 0
  int signal = 0;
  bool timed_out = false;
  std::string out, err;

  bool ok() const { return exit_code == 0 && signal == 0 && !timed_out; }
};

// An Error only when the program could not be started. The child is killed with its process group at the
// time-out.
Result<Finished> run_command(const Command& command);

}  // namespace kforge

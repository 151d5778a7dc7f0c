// Runs the real kforge program as a user would, with a home of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/subprocess.h"

extern char** environ;

namespace kforge {

inline const fs::path kRoot = KFORGE_SOURCE_DIR;
inline const fs::path kProgram = fs::path(KFORGE_BINARY_DIR) / "kforge";

// A home that the tests of one build share: peaks are measured and references compiled once, not once per
// test.
inline fs::path shared_home() {
  fs::path home = fs::path(KFORGE_BINARY_DIR) / "test_home";
  std::error_code ignored;
  fs::create_directories(home, ignored);
  return home;
}

inline std::map<std::string, std::string> user_environment(const fs::path& home) {
  std::map<std::string, std::string> env;
  for (char** entry = environ; *entry; ++entry) {
    std::string text = *entry;
    std::size_t equals = text.find('=');
    if (equals != std::string::npos) env[text.substr(0, equals)] = text.substr(equals + 1);
  }
  env["KFORGE_HOME"] = home;
  env.erase("KFORGE_DATA");
  env.erase("XDG_DATA_HOME");
  return env;
}

struct RunOptions {
  fs::path home = shared_home();
  fs::path cwd = kRoot;
  std::map<std::string, std::string> env;  // on top of the user's
};

inline Finished kforge_run(std::vector<std::string> arguments, const RunOptions& options = {}) {
  Command command{.argv = std::move(arguments),
                  .cwd = options.cwd,
                  .timeout = std::chrono::minutes(5),
                  .output_limit = 8 << 20};
  command.argv.insert(command.argv.begin(), kProgram);
  command.env = user_environment(options.home);
  for (const auto& [name, value] : options.env) (*command.env)[name] = value;
  auto done = run_command(command);
  EXPECT_TRUE(done) << done.error().text();
  return done ? *done : Finished{.exit_code = -1};
}

}  // namespace kforge

// Misspelt commands and options, found before CLI11 sees them, so that the answer can name what was meant.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace CLI {
class App;
}

namespace kforge {

std::optional<Error> find_misspelling(const CLI::App& app, int argc, char** argv);

// "kforge tasks show": the commands on the line, as far as they are known.
std::string command_words(const CLI::App& app, int argc, char** argv);

}  // namespace kforge

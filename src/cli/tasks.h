// The part of `kforge tasks` that runs the oracle.
#pragma once

#include <string>

namespace kforge {

// Calibrates every task of a suite (or one task) on a shape set and prints the table; the exit code.
int check_tasks(const std::string& suite_or_task, const std::string& shape_set, bool json);

}  // namespace kforge

// Options that were given and have no effect in this run: the user is told, each in one sentence.
#pragma once

#include <string>
#include <vector>

#include "forge/agents.h"
#include "search/strategy.h"

namespace kforge {

std::vector<std::string> idle_options(const ForgeOptions& options, const Agents& agents,
                                      const StrategyEntry& strategy);

}  // namespace kforge

// Reading [[price]] tables, for the two files that have them. Includes the heavy toml++ header.
#pragma once

#include "base/toml_section.h"
#include "llm/prices.h"

namespace kforge {

std::vector<Price> prices_in(TomlSection& top);

}  // namespace kforge

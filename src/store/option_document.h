// Settings of a run as a JSON object.
#pragma once

#include <string>
#include <string_view>

#include "store/runs.h"

namespace kforge {

std::string to_document(const OptionMap& options);
Result<OptionMap> options_from_document(std::string_view document);

}  // namespace kforge

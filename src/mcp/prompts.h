// Requests that a person starts from a menu of the assistant.
#pragma once

#include "base/result.h"
#include "mcp/rpc.h"

namespace kforge::mcp {

Json prompt_list();
// An Error names what is unknown or missing.
Result<std::string> prompt_text(const Json& name, const Json& arguments);

}  // namespace kforge::mcp

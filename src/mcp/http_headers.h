// What the protocol asks of the headers of a POST.
#pragma once

#include "mcp/http_message.h"
#include "mcp/rpc.h"

namespace kforge::mcp {

inline constexpr const char* kSessionHeader = "Mcp-Session-Id";
inline constexpr const char* kVersionHeader = "MCP-Protocol-Version";

// Answers come as either, so the client must take both.
bool accepts_both(const HttpRequest& request);
bool is_json(const HttpRequest& request);

// The newer era repeats fields of the message in headers, for whoever routes by them; both must say the same.
// Empty: they do.
std::string wrong_mirrored_headers(const HttpRequest& request, const RpcMessage& message);

}  // namespace kforge::mcp

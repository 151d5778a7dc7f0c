// A tool that an assistant can call.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/rpc.h"

namespace kforge::mcp {

struct ResourceLink {
  std::string uri, name, mime_type;
};

// What a call gave. A kernel that fails is a call that succeeded; `failed` is for calls that could not be
// made, and the text then says what to do instead.
struct ToolResult {
  Json structured = Json::object();
  bool failed = false;
  std::string text;  // empty: `structured` as text
  std::vector<ResourceLink> links;
};

inline ToolResult tool_failure(std::string text) { return {Json::object(), true, std::move(text), {}}; }

inline constexpr std::size_t kLongestStage = 200;  // characters kept of what is said

struct ToolCall {
  Json arguments = Json::object();
  std::stop_token stop;  // the client cancelled the call, or went away
  // Tells who waits what is being done now: "compiling". From the thread of the call.
  std::function<void(std::string_view)> say = [](std::string_view) {};
};

struct Tool {
  std::string name, title, description;
  Json input_schema;
  Json output_schema;  // null: not said
  bool read_only = true, destructive = false, idempotent = true;
  std::function<ToolResult(const ToolCall&)> call;
};

// What is wrong with the arguments, in words for who wrote them; empty: nothing. Knows the part of JSON
// Schema that the tools use: type, enum, minimum, maximum, maxLength, items, required, additionalProperties.
std::string wrong_arguments(const Json& schema, const Json& arguments);

}  // namespace kforge::mcp

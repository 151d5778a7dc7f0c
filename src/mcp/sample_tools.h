// Tools and messages that tests of the protocol share.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "mcp/schema.h"
#include "mcp/tool.h"

namespace kforge::mcp {

inline Json modern(Json params = Json::object()) {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  return params;
}

inline Tool echo() {
  return {.name = "echo",
          .title = "Echo",
          .description = "d",
          .input_schema =
              object_of({{"word", one_of({"a", "b"}, "w")}, {"times", number_of(1, 3, "n")}}, {"word"}),
          .call = [](const ToolCall& call) {
            return ToolResult{.structured = {{"said", call.arguments["word"]}}};
          }};
}

inline Tool sleeper(std::atomic<bool>& stopped) {
  return {
      .name = "sleep", .input_schema = object_of(Json::object()), .call = [&stopped](const ToolCall& call) {
        while (!call.stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        stopped = true;
        return ToolResult{};
      }};
}

}  // namespace kforge::mcp

// A request to the endpoint and its answer, in no HTTP library's types: who serves translates.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace kforge::mcp {

struct HttpRequest {
  std::string method;  // "POST"
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  // The values of all headers of this name, in whatever case it is written.
  std::vector<std::string> all(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [one, value] : headers)
      if (lower_case(one) == lower_case(name)) values.push_back(value);
    return values;
  }
  // Nothing: there is none.
  std::optional<std::string> header(std::string_view name) const {
    const auto values = all(name);
    return values.empty() ? std::nullopt : std::optional(values.front());
  }
};

// The client's end of a stream.
struct EventSink {
  std::function<bool(std::string_view)> write;  // false: it is gone
  std::function<bool()> is_open;                // false: it is gone
};

struct HttpAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // of content_type, unless there is a stream
  std::string content_type = "application/json";
  // Events (text/event-stream) until the exchange ends or the client is gone. The work behind it is cancelled
  // when this function returns early, or is dropped without having been called.
  std::function<void(const EventSink&)> stream;
};

}  // namespace kforge::mcp

#include "mcp/http_headers.h"

#include <fmt/format.h>

#include <algorithm>

#include "llm/text_safety.h"
#include "mcp/server.h"

namespace kforge::mcp {
namespace {

// "application/json; charset=utf-8" is "application/json".
std::string media_type(std::string_view text) { return lower_case(trimmed(text.substr(0, text.find(';')))); }

// A value that a header cannot hold as it is comes as "=?base64?...?=".
bool says(const std::string& header, const std::string& value) {
  return header == value || header == "=?base64?" + base64(value) + "?=";
}

// The field that the header Mcp-Name repeats; null: this method has none.
const char* name_field(const std::string& method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  return method == "resources/read" ? "uri" : nullptr;
}

std::string wrong_header(const HttpRequest& request, const char* name, const std::string& value) {
  const auto given = request.all(name);
  if (given.empty()) return fmt::format("the header {} is missing", name);
  if (given.size() > 1) return fmt::format("there is more than one header {}", name);
  if (!says(given[0], value)) return fmt::format("the header {} does not say what the message says", name);
  return "";
}

}  // namespace

bool accepts_both(const HttpRequest& request) {
  bool json = false, events = false;
  for (const std::string& value : request.all("Accept"))
    for (const std::string& part : parts_of(value, ',')) {
      const std::string type = media_type(part);
      json = json || type == "application/json" || type == "application/*" || type == "*/*";
      events = events || type == "text/event-stream" || type == "text/*" || type == "*/*";
    }
  return json && events;
}

bool is_json(const HttpRequest& request) {
  const auto type = request.header("Content-Type");
  return type && media_type(*type) == "application/json";
}

std::string wrong_mirrored_headers(const HttpRequest& request, const RpcMessage& message) {
  const Json meta = message.params.value("_meta", Json::object());
  if (auto wrong = wrong_header(request, kVersionHeader, string_at(meta, kVersionKey)); !wrong.empty())
    return wrong;
  if (auto wrong = wrong_header(request, "Mcp-Method", message.method); !wrong.empty()) return wrong;
  const char* field = name_field(message.method);
  return field ? wrong_header(request, "Mcp-Name", string_at(message.params, field)) : "";
}

}  // namespace kforge::mcp

// JSON-RPC 2.0 as the Model Context Protocol has it: one object per message; over stdio a line each.
#pragma once

#include <expected>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kforge::mcp {

using Json = nlohmann::ordered_json;

// A field that is there and a string; else empty.
inline std::string string_at(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

struct RpcError {
  static constexpr int kParse = -32700, kInvalidRequest = -32600, kUnknownMethod = -32601,
                       kInvalidParams = -32602, kInternal = -32603, kUnsupportedVersion = -32022,
                       kHeaderMismatch = -32020;
  int code = kInternal;
  std::string message;
  Json data;  // null: none
};

struct RpcMessage {
  Json id;  // null: a notification, which is never answered
  std::string method;
  Json params = Json::object();

  bool is_request() const { return !id.is_null(); }
};

// The id of an error is null where the line has none that can be used.
struct BadMessage {
  Json id;
  RpcError error;
};
// Nothing in place of a message: an answer of the client, to which there is nothing to say.
std::expected<std::optional<RpcMessage>, BadMessage> read_message(std::string_view line);

std::string result_line(const Json& id, const Json& result);
std::string error_line(const Json& id, const RpcError& error);
std::string notification_line(const std::string& method, const Json& params);

// Whole lines to a file descriptor, from any thread.
class LineWriter {
 public:
  explicit LineWriter(int fd) : fd_(fd) {}
  // False: nobody reads any more.
  bool write(std::string line);

 private:
  std::mutex mutex_;
  int fd_;
};

}  // namespace kforge::mcp

#include "mcp/rpc.h"

#include <unistd.h>

#include <cerrno>
#include <optional>

namespace kforge::mcp {
namespace {

std::string dumped(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::expected<std::optional<RpcMessage>, BadMessage> read_message(std::string_view line) {
  Json document = Json::parse(line, nullptr, false);
  if (document.is_discarded())
    return std::unexpected(BadMessage{nullptr, {RpcError::kParse, "the line is no JSON", nullptr}});
  auto invalid = [&](const Json& id, const char* why) {
    return std::unexpected(BadMessage{id, {RpcError::kInvalidRequest, why, nullptr}});
  };
  if (document.is_array()) return invalid(nullptr, "batches are not part of the protocol");
  if (!document.is_object()) return invalid(nullptr, "a message is an object");
  RpcMessage message;
  if (auto id = document.find("id"); id != document.end()) {
    if (!id->is_string() && !id->is_number_integer())
      return invalid(nullptr, "an id is a string or an integer");
    message.id = *id;
  }
  if (document.value("jsonrpc", Json()) != "2.0") return invalid(message.id, "\"jsonrpc\" must be \"2.0\"");
  auto method = document.find("method");
  if (method == document.end()) {
    if (document.contains("result") || document.contains("error")) return std::optional<RpcMessage>();
    return invalid(message.id, "there is no \"method\"");
  }
  if (!method->is_string()) return invalid(message.id, "\"method\" must be a string");
  message.method = method->get<std::string>();
  if (auto params = document.find("params"); params != document.end()) {
    if (!params->is_object())
      return std::unexpected(
          BadMessage{message.id, {RpcError::kInvalidParams, "\"params\" must be an object", nullptr}});
    message.params = *params;
  }
  return message;
}

std::string result_line(const Json& id, const Json& result) {
  return dumped(Json{{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

std::string error_line(const Json& id, const RpcError& error) {
  Json said = {{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) said["data"] = error.data;
  return dumped(Json{{"jsonrpc", "2.0"}, {"id", id}, {"error", said}});
}

std::string notification_line(const std::string& method, const Json& params) {
  return dumped(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

bool LineWriter::write(std::string line) {
  line += '\n';
  std::lock_guard lock(mutex_);
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace kforge::mcp

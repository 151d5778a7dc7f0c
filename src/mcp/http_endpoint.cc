#include "mcp/http_endpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "mcp/http_exchange.h"
#include "mcp/http_headers.h"

namespace kforge::mcp {
namespace {

HttpAnswer error_answer(int status, const Json& id, int code, std::string why, Json data = nullptr) {
  return {.status = status, .body = error_line(id, {code, std::move(why), std::move(data)})};
}
HttpAnswer refused(int status, std::string why) {
  return error_answer(status, nullptr, RpcError::kInvalidRequest, std::move(why));
}

// The newer era's errors have a status too, for whoever does not read bodies.
int modern_status(const std::string& answer) {
  const Json document = Json::parse(answer, nullptr, false);
  if (!document.is_object() || !document.contains("error")) return 200;
  switch (document["error"].value("code", 0)) {
    case RpcError::kUnknownMethod:
      return 404;
    case RpcError::kInternal:
      return 500;
    default:
      return 400;
  }
}

// The answer to a request: whole where it is there already, else a stream.
HttpAnswer answer_of(std::shared_ptr<Server> server, const RpcMessage& message, bool modern) {
  auto exchange = std::make_shared<HttpExchange>(std::move(server), message);
  if (auto whole = exchange->whole_answer())
    return {.status = modern ? modern_status(*whole) : 200, .body = std::move(*whole)};
  return {.headers = {{"Cache-Control", "no-cache, no-transform"}, {"X-Accel-Buffering", "no"}},
          .body = "",
          .content_type = "text/event-stream",
          .stream = [exchange](const EventSink& sink) { exchange->stream_to(sink); }};
}

bool is_legacy_version(const std::string& version) {
  return std::ranges::find(kLegacyVersions, version) != std::end(kLegacyVersions);
}

bool says_its_version(const RpcMessage& message) {
  return message.params.value("_meta", Json()).is_object() && message.params["_meta"].contains(kVersionKey);
}

HttpAnswer unsupported(const Json& id, const std::string& version) {
  return error_answer(400, id, RpcError::kUnsupportedVersion, "this version of the protocol is not supported",
                      {{"supported", supported_versions()}, {"requested", version}});
}

}  // namespace

HttpEndpoint::HttpEndpoint(const std::vector<Tool>& tools, Resources resources, HttpLimits limits)
    : tools_(tools),
      resources_(std::move(resources)),
      limits_(limits),
      slots_(limits.calls),
      sessions_(limits.sessions, limits.idle) {}

std::shared_ptr<Server> HttpEndpoint::new_server() {
  return std::make_shared<Server>(tools_, resources_, slots_);
}

HttpAnswer HttpEndpoint::handle(const HttpRequest& request) {
  if (request.method == "POST") return post(request);
  if (request.method == "DELETE" && request.header(kSessionHeader)) return end_session(request);
  // Nothing is said unasked, so there is no stream to GET.
  HttpAnswer answer = refused(405, "messages are sent with POST");
  answer.headers.emplace_back("Allow", "POST, DELETE");
  return answer;
}

HttpAnswer HttpEndpoint::post(const HttpRequest& request) {
  if (request.body.size() > limits_.body_bytes)
    return refused(413, fmt::format("a message may have {} bytes", limits_.body_bytes));
  if (!is_json(request)) return refused(415, "Content-Type must be application/json");
  if (!accepts_both(request)) return refused(406, "Accept must list application/json and text/event-stream");
  const auto read = read_message(request.body);
  if (!read) return {.status = 400, .body = error_line(read.error().id, read.error().error)};
  if (!*read) return {.status = 202};  // an answer of the client to nothing we asked
  const RpcMessage& message = **read;
  const auto version = request.header(kVersionHeader);
  if (says_its_version(message) || (version && !is_legacy_version(*version))) return modern(request, message);
  return legacy(request, message);
}

HttpAnswer HttpEndpoint::modern(const HttpRequest& request, const RpcMessage& message) {
  // This era has no notifications over HTTP: a call is cancelled by closing its stream.
  if (!message.is_request()) return {.status = 202};
  if (!says_its_version(message)) {
    const std::string version = *request.header(kVersionHeader);
    if (version != kModernVersion) return unsupported(message.id, version);
  }
  if (auto wrong = wrong_mirrored_headers(request, message); !wrong.empty())
    return error_answer(400, message.id, RpcError::kHeaderMismatch, wrong);
  return answer_of(new_server(), message, true);
}

HttpAnswer HttpEndpoint::legacy(const HttpRequest& request, const RpcMessage& message) {
  if (message.method == "initialize" && message.is_request()) return open_session(message);
  const auto id = request.header(kSessionHeader);
  if (!id) return refused(400, "no session: open one with initialize, and send its Mcp-Session-Id");
  auto server = sessions_.find(*id);
  if (!server) return refused(404, "the session has ended: open another with initialize");
  if (message.is_request()) return answer_of(std::move(server), message, false);
  server->receive(message, {.send = [](const std::string&) {}});
  return {.status = 202};
}

HttpAnswer HttpEndpoint::open_session(const RpcMessage& message) {
  auto server = new_server();
  HttpAnswer answer = answer_of(server, message, false);
  if (Json::parse(answer.body, nullptr, false).contains("error")) return answer;
  const std::string id = sessions_.open(std::move(server));
  if (id.empty()) return refused(503, fmt::format("{} sessions are at work", limits_.sessions));
  answer.headers.emplace_back(kSessionHeader, id);
  return answer;
}

HttpAnswer HttpEndpoint::end_session(const HttpRequest& request) {
  if (!sessions_.close(*request.header(kSessionHeader))) return refused(404, "there is no such session");
  return {.status = 204};
}

}  // namespace kforge::mcp

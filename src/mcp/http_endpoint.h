// Streamable HTTP of the Model Context Protocol: one address that takes POSTs, each with one message. A
// request is answered with a JSON object, or, where a tool works on it, with a stream of events: progress,
// then the answer.
//
// Requests of the newer era (2026-07-28) stand for themselves. Those of the older (2025-03-26 to 2025-11-25)
// belong to a session that `initialize` opens. Streams cannot be taken up again in either, so a client whose
// connection ends has no way to its answer: its call is cancelled.
//
// Who may ask is the server's matter: Host, Origin and token are checked before a request comes here.
#pragma once

#include "mcp/http_message.h"
#include "mcp/http_sessions.h"

namespace kforge::mcp {

struct HttpLimits {
  std::size_t body_bytes = std::size_t{16} << 20;
  std::size_t calls = 8;          // at once, over all clients
  std::size_t sessions = 64;      // of the older era
  std::chrono::minutes idle{30};  // a session that nobody used for so long ends
};

class HttpEndpoint {
 public:
  // The tools outlive it, and it outlives the answers it gave.
  HttpEndpoint(const std::vector<Tool>& tools, Resources resources, HttpLimits limits = {});

  // From any thread.
  HttpAnswer handle(const HttpRequest& request);

  std::size_t sessions() { return sessions_.size(); }

 private:
  HttpAnswer post(const HttpRequest& request);
  HttpAnswer modern(const HttpRequest& request, const RpcMessage& message);
  HttpAnswer legacy(const HttpRequest& request, const RpcMessage& message);
  HttpAnswer open_session(const RpcMessage& message);
  HttpAnswer end_session(const HttpRequest& request);
  std::shared_ptr<Server> new_server();

  const std::vector<Tool>& tools_;
  const Resources resources_;
  const HttpLimits limits_;
  CallSlots slots_;
  HttpSessions sessions_;
};

}  // namespace kforge::mcp

// One request over HTTP while it is answered: what the server says about it, and the client's end of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "mcp/http_message.h"
#include "mcp/server.h"

namespace kforge::mcp {

// Messages from the threads of a call to the one that writes to the client.
class MessageQueue {
 public:
  void push(std::string message);
  void close();  // none will follow
  // Waits for one. Nothing: none came in this time, or, when `is_over()`, none will.
  std::optional<std::string> next(std::chrono::milliseconds wait);
  bool is_over();
  // Takes the message where it is the only one and none will follow.
  std::optional<std::string> only();

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::string> messages_;
  bool closed_ = false;
};

class HttpExchange {
 public:
  // Gives the message to `server`, which lives as long as the exchange.
  HttpExchange(std::shared_ptr<Server> server, const RpcMessage& message);
  // Cancels the call if it still runs.
  ~HttpExchange();
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  // The answer where the exchange is over already and that was all: it needs no stream.
  std::optional<std::string> whole_answer() { return queue_->only(); }
  // Messages as events until the exchange is over or the client gone. A comment now and then keeps proxies
  // from closing the connection.
  void stream_to(const EventSink& sink);

 private:
  std::shared_ptr<Server> server_;
  Json id_;
  std::shared_ptr<MessageQueue> queue_ = std::make_shared<MessageQueue>();
};

}  // namespace kforge::mcp
